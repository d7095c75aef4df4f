import { expect, test } from 'vitest';
import type { Predicate } from '../../../../query/plan/search-plan.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, NOW } from '../stored-events.ts';
import { actionIs, explorePlan } from './explore-plan.ts';

const FROM = NOW - 1_000;
const WINDOW = { fromMs: FROM, toMs: FROM + 100 };
const FIRST_HALF = { window: { fromMs: FROM, toMs: FROM + 50 }, where: { kind: 'everything' } } as const;

const GERMAN: Predicate = { kind: 'equals', column: 'country', values: ['DE'], folded: true };

const EVENTS = [
  event('before', FROM - 1, { country: 'DE' }),
  event('a', FROM, { country: 'DE', action: 'blocked', ip: '10.0.0.1' }),
  event('b', FROM + 10, { country: 'de', action: 'Blocked', ip: '10.0.0.2' }),
  event('c', FROM + 20, { country: 'DE', action: 'logged' }),
  event('d', FROM + 30, { country: 'FR', action: 'blocked' }),
  event('e', FROM + 60, { action: 'logged' }),
  event('f', FROM + 70, {}),
  event('g', FROM + 80, { country: 'DE', action: 'blocked' }),
];

async function combinationsOf(conditions: readonly Predicate[], { isFlushed, where }: { isFlushed: boolean; where: Predicate }) {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(EVENTS));
  if (isFlushed) await store.flushNow();
  return (await store.explore(explorePlan({ window: WINDOW, where }, { selection: FIRST_HALF, combinations: conditions }))).combinations;
}

test.each([true, false])('all sets of conditions that events meet are counted, where events are flushed: %s', async (isFlushed) => {
  const asked = { isFlushed, where: { kind: 'everything' } } as const;
  expect(await combinationsOf([GERMAN, actionIs('blocked')], asked)).toEqual([
    { met: [0, 1], count: 3, selected: 2 },
    { met: [], count: 2, selected: 0 },
    { met: [0], count: 1, selected: 1 },
    { met: [1], count: 1, selected: 1 },
  ]);
  expect(await combinationsOf([GERMAN, actionIs('blocked')], { ...asked, where: actionIs('BLOCKED') })).toEqual([
    { met: [0, 1], count: 3, selected: 2 },
    { met: [1], count: 1, selected: 1 },
  ]);
});

test('an event without a field meets no condition on it', async () => {
  const conditions = [GERMAN, { kind: 'contains', column: 'ip', needle: '10.' }, actionIs('challenged')] as const;
  expect(await combinationsOf(conditions, { isFlushed: true, where: { kind: 'everything' } })).toEqual([
    { met: [], count: 3, selected: 1 },
    { met: [0], count: 2, selected: 1 },
    { met: [0, 1], count: 2, selected: 2 },
  ]);
});

test('where no event is found there is no set', async () => {
  expect(await combinationsOf([GERMAN, actionIs('blocked')], { isFlushed: true, where: actionIs('none') })).toEqual([]);
});

test('eight conditions that all events meet are one set', async () => {
  const conditions = new Array<Predicate>(8).fill({ kind: 'everything' });
  expect(await combinationsOf(conditions, { isFlushed: true, where: GERMAN })).toEqual([
    { met: [0, 1, 2, 3, 4, 5, 6, 7], count: 4, selected: 3 },
  ]);
});

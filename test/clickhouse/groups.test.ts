import { expect, test } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { ClickhouseStore } from '../../store/clickhouse/clickhouse-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { NOW } from '../fixtures/present.ts';
import { event, HOUR, rowsPlan } from '../store/embedded/stored-events.ts';
import { breakableServer } from './engine.ts';
import { sharedStore } from './shared-store.ts';

/** More addresses than one statement works out facts for, and three countries. */
const ADDRESSES = 2_500;
const EVENTS = Array.from({ length: 2 * ADDRESSES }, (_, index) => {
  const address = index % ADDRESSES;
  const ip = `10.0.${Math.floor(address / 256)}.${address % 256}`;
  return event(`e${index}`, NOW - HOUR + index, { ip, country: ['DE', 'FR', 'US'][index % 3] as string, action: 'blocked' });
});

const PAGE_OF_GROUPS: SearchPlan = rowsPlan({ page: { index: 1, size: 10 } });

async function groupsBy(store: ClickhouseStore, by: 'ip' | 'country', index: number) {
  const answer = await store.search({ ...PAGE_OF_GROUPS, page: { index, size: 10 }, output: { kind: 'groups', by: [by], buckets: 2 } });
  return answer.kind === 'groups' ? answer : undefined;
}

test('pages of few groups and of many have the same facts about each, in the order of the answer', async () => {
  const shared = await sharedStore();
  const store = await shared.open();
  await store.append(canonicalBatch(EVENTS));
  // The second time it is known that there are many.
  for (const _ of ['first', 'second']) {
    const addresses = await groupsBy(store, 'ip', 1);
    expect(addresses?.total).toBe(ADDRESSES);
    const expected = [...new Set(EVENTS.map(({ ip }) => ip ?? ''))].sort().slice(10, 20);
    expect(addresses?.groups.map(({ key, count, context }) => [key.ip, count, context.blocked])).toEqual(expected.map((ip) => [ip, 2, 2]));
    const countries = await groupsBy(store, 'country', 0);
    expect(countries?.total).toBe(3);
    expect(countries?.groups.map(({ key, count, context }) => [key.country, count, context.country])).toEqual([
      ['DE', 1_667, 'DE'],
      ['FR', 1_667, 'FR'],
      ['US', 1_666, 'US'],
    ]);
  }
});

test('where the server has no memory for the facts of all groups, those of the page are worked out', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const store = await shared.open();
  await store.append(canonicalBatch(EVENTS));
  const fault = { kind: 'refuse', code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'Memory limit exceeded', times: 1 } as const;
  await server.break({ ...fault, matching: 'sumMapIf' });
  expect((await groupsBy(store, 'country', 0))?.groups.map(({ count }) => count)).toEqual([1_667, 1_667, 1_666]);
});

import { describe, expect, test } from 'vitest';
import type { SearchPlan } from '../../../../query/plan/search-plan.ts';
import { ExplorationCache } from '../../../../store/embedded/search/exploration-cache.ts';
import { ReadRows, RowCursor } from '../../../../store/embedded/search/row-pieces.ts';
import type { FoundRows } from '../../../../store/embedded/search/row-search.ts';
import { explored } from '../../../fixtures/answered-rows.ts';
import { event, NOW, rowsPlan } from '../stored-events.ts';
import { actionIs, explorePlan } from './explore-plan.ts';
import { minutes, Twins } from './twin-stores.ts';

const PLAN = rowsPlan({ window: { fromMs: 0, toMs: 100 }, page: { index: 0, size: 1 } });

function pageOf(log = '{}'): FoundRows {
  const first = new ReadRows([JSON.stringify(['5', 'a', '7', 'blocked'])], [Buffer.from(log)], true);
  return { kind: 'rows', total: 1, first, rest: undefined };
}

/** A search of a snapshot that ends before this sequence. */
function searchOf(endSequence: bigint, plan: SearchPlan = PLAN, expiries = 0) {
  return { plan, extent: { window: plan.window, endSequence, expiries } };
}

/** A cache of a store whose zones have events up to `last`. */
function cacheOf(zones: { last: bigint }, maxBytes?: number): ExplorationCache {
  return new ExplorationCache({ of: () => zones.last }, maxBytes);
}

describe('a page', () => {
  test('is the same for later searches while no event of its zones is stored', () => {
    const zones = { last: 9n };
    const cache = cacheOf(zones);
    cache.keepPage(searchOf(10n), pageOf());
    expect(cache.pageOf(searchOf(10n))).toEqual(pageOf());
    expect(cache.pageOf(searchOf(20n))).toEqual(pageOf());
    zones.last = 10n;
    expect(cache.pageOf(searchOf(20n))).toBeUndefined();
  });

  test('is not that of a search which began before the last event', () => {
    const cache = cacheOf({ last: 15n });
    cache.keepPage(searchOf(16n), pageOf());
    expect(cache.pageOf(searchOf(15n))).toBeUndefined();
    expect(cache.pageOf(searchOf(16n))).toEqual(pageOf());
  });

  test('is another one after some events have expired', () => {
    const cache = cacheOf({ last: 9n });
    cache.keepPage(searchOf(10n), pageOf());
    expect(cache.pageOf(searchOf(10n, PLAN, 1))).toBeUndefined();
  });

  const others: Readonly<Record<string, Partial<SearchPlan>>> = {
    'another page': { page: { index: 1, size: 1 } },
    'a longer page': { page: { index: 0, size: 2 } },
    'a window that begins elsewhere': { window: { fromMs: 1, toMs: 100 } },
    'a window that ends elsewhere': { window: { fromMs: 0, toMs: 101 } },
    'other zones': { zones: [7, 8] },
    'all zones': { zones: 'all' },
    'another predicate': { where: actionIs('blocked') },
    groups: { output: { kind: 'groups', by: ['ip'], buckets: 0 } },
  };
  test.each(Object.entries(others))('is not that of %s', (_, other) => {
    const cache = cacheOf({ last: 9n });
    cache.keepPage(searchOf(10n), pageOf());
    expect(cache.pageOf(searchOf(10n, { ...PLAN, ...other }))).toBeUndefined();
  });
});

test('a page of which more is to be read than its first piece is not kept', () => {
  const cache = cacheOf({ last: 9n });
  cache.keepPage(searchOf(10n), { ...pageOf(), rest: new RowCursor(PLAN.window, 0, 1) });
  expect(cache.pageOf(searchOf(10n))).toBeUndefined();
});

test('groups are not kept', () => {
  const cache = cacheOf({ last: 9n });
  const plan = { ...PLAN, output: { kind: 'groups', by: ['ip'], buckets: 0 } } as const;
  cache.keepPage(searchOf(10n, plan), { kind: 'groups', groups: [], total: 0 });
  expect(cache.pageOf(searchOf(10n, plan))).toBeUndefined();
});

test('pages of the searches that were made last are kept, within the budget', () => {
  const cache = cacheOf({ last: 9n }, 16 * 1024 * 1024);
  const log = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
  const plans = Array.from({ length: 12 }, (_, zone) => ({ ...PLAN, zones: [zone] }));
  for (const plan of plans) {
    cache.keepPage(searchOf(10n, plan), pageOf(log));
  }
  expect(plans.map((plan) => cache.pageOf(searchOf(10n, plan)) !== undefined)).toEqual(plans.map((_, index) => index >= 5));
});

test('a question about the same page reads it again only after an event of its zones was stored', async () => {
  const twins = await Twins.open();
  await twins.append(minutes(0, 40));
  await twins.flush();
  const plan = explorePlan({ page: { index: 1, size: 10 } });
  const answer = await explored(await twins.caching.explore(plan));
  expect(answer.page).toMatchObject({ rows: { length: 10 }, total: 40 });
  await twins.append([event('elsewhere', NOW, { shieldZoneId: 8 })]);
  await twins.expectEqual(plan);
  twins.removeSegments();
  expect(await explored(await twins.caching.explore(plan))).toEqual(answer);
  await twins.append([event('here', NOW)]);
  expect(await twins.caching.stats()).toMatchObject({ unreadableEvents: 0 });
  await twins.caching.explore(plan);
  expect(await twins.caching.stats()).toMatchObject({ unreadableEvents: 40 });
});

test('a page stays beside the counts of its search, and is replaced by another page of it', () => {
  const cache = cacheOf({ last: 9n });
  const counts = new Map([['ip', { distinct: 1, first: [{ value: '192.0.2.1', count: 1 }] }]] as const);
  cache.keepPage(searchOf(10n), pageOf());
  cache.keep(searchOf(10n), counts, undefined);
  expect(cache.pageOf(searchOf(10n))).toEqual(pageOf());
  const other = { ...PLAN, page: { index: 1, size: 1 } };
  cache.keepPage(searchOf(10n, other), pageOf('{"b":1}'));
  expect(cache.pageOf(searchOf(10n))).toBeUndefined();
  expect(cache.pageOf(searchOf(10n, other))).toEqual(pageOf('{"b":1}'));
  expect(cache.of(PLAN)?.counts.get('ip')?.counts).toEqual(counts.get('ip'));
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ExplorePlan, FacetOrder, Selection } from '../../../../query/plan/explore-plan.ts';
import type { ExploreResult } from '../../../../query/plan/search-result.ts';
import { MAX_FACET_VALUES } from '../../../../query/search-limits.ts';
import { ExplorationCache } from '../../../../store/embedded/search/exploration-cache.ts';
import { explored } from '../../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { actionIs, explorePlan } from './explore-plan.ts';
import { blockedIn, during, LIMITS, minutes, question, Twins } from './twin-stores.ts';

async function flushedTwins(count: number): Promise<Twins> {
  const twins = await Twins.open();
  await twins.append(minutes(0, count));
  await twins.flush();
  return twins;
}

test('a question that is asked again reads no segment', async () => {
  const twins = await flushedTwins(400);
  const plan = question(-60, 600);
  const answer = await explored(await twins.caching.explore(plan));
  twins.removeSegments();
  expect(await explored(await twins.caching.explore(plan))).toEqual(answer);
  expect(await twins.caching.stats()).toMatchObject({ unreadableEvents: 0 });
  await twins.caching.explore(question(-60, 500));
  expect(await twins.caching.stats()).toMatchObject({ unreadableEvents: 400 });
});

test('a store that caches nothing reads its segments', async () => {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder, { cachesCounts: false });
  await store.append(canonicalBatch(minutes(0, 40)));
  await store.flushNow();
  await store.explore(question(-60, 600));
  for (const name of ['segments', 'links']) {
    rmSync(join(folder, name), { recursive: true });
  }
  await store.explore(question(-60, 600));
  expect(await store.stats()).toMatchObject({ unreadableEvents: 40 });
});

test('other selections, fields, histograms and orders of the same search', async () => {
  const twins = await flushedTwins(400);
  const plan = question(-60, 600);
  await twins.expectEqual(
    { ...plan, facets: plan.facets.slice(2) },
    plan,
    question(-60, 600, blockedIn(-60, 600)),
    question(-60, 600, during(100, 150)),
    question(-60, 600, during(50, 50)),
    { ...question(-60, 600, during(0, 399)), facets: plan.facets },
    { ...plan, histogram: { buckets: 5, by: 'action' } },
    { ...plan, histogram: { buckets: 5, by: null } },
    { ...plan, histogram: { buckets: 5, by: null, window: { fromMs: plan.search.window.fromMs - 7, toMs: plan.search.window.toMs + 3 } } },
    { ...plan, histogram: { buckets: 6, by: null } },
    { ...plan, search: { ...plan.search, where: actionIs('logged') } },
    plan,
  );
});

test('a field with exactly as many values as are known', async () => {
  // Four urls that come often, and 106 others.
  const twins = await flushedTwins(121);
  const plan = question(-60, 600);
  const facets = [{ field: 'url', limit: MAX_FACET_VALUES, order: 'count' }] as const;
  expect((await twins.caching.explore({ ...plan, facets })).facets?.[0]?.distinct).toBe(LIMITS.values);
  await twins.expectEqual({ ...plan, facets });
});

test('as many values as there can be, of fields and selections of which not all are known', async () => {
  const twins = await flushedTwins(400);
  const often: Selection = { ...during(-60, 600), where: { kind: 'contains', column: 'url', needle: 'often' } };
  for (const selection of [during(0, 200), during(0, 399), blockedIn(-60, 600), often]) {
    const plan = question(-60, 600, selection);
    const facets = (order: FacetOrder) => plan.facets.map(({ field }) => ({ field, limit: MAX_FACET_VALUES, order }));
    await twins.expectEqual({ ...plan, facets: facets('count') }, { ...plan, facets: facets('difference') });
  }
});

const ofAll = (plan: ExplorePlan): ExplorePlan => ({ ...plan, histogram: { buckets: 7, by: null } });

describe('after the events of a question have changed', () => {
  const looks = (from: number, to: number) => [
    question(from, to),
    question(from, to, blockedIn(from, to)),
    question(from, to, during(from + 100, from + 250)),
  ];

  test('newer events, in the memtable, flushed and merged', async () => {
    const twins = await flushedTwins(300);
    await twins.expectEqual(...looks(-60, 900));
    await twins.append(minutes(300, 7));
    await twins.expectEqual(...looks(-60, 900));
    await twins.append(minutes(1_300, 7));
    await twins.flush();
    await twins.expectEqual(...looks(-60, 900));
    await twins.append(minutes(307, 20));
    await twins.merge();
    await twins.expectEqual(...looks(-60, 900));
    await twins.append(minutes(327, 250));
    await twins.flush();
    await twins.merge();
    await twins.expectEqual(...looks(-60, 900));
    // Fewer changed urls than are known of other fields, but more than of urls.
    await twins.append(minutes(577, 117));
    await twins.expectEqual(...looks(-60, 900));
  });

  test('a field with few values gets some more, and more than are known', async () => {
    const twins = await flushedTwins(50);
    const plan = question(-60, 600);
    const all = { ...plan, facets: plan.facets.map(({ field }) => ({ field, limit: MAX_FACET_VALUES, order: 'count' as const })) };
    for (const [from, count] of [
      [50, 20],
      [70, 150],
    ] as const) {
      await twins.expectEqual(all);
      await twins.append(minutes(from, count));
    }
    await twins.expectEqual(all);
  });

  test('a window that moves a little, and far', async () => {
    const twins = await flushedTwins(500);
    for (const moved of [0, 1, 40, 41, 300]) {
      await twins.expectEqual(...looks(50 + moved, 350 + moved));
      await twins.append(minutes(500 + 2 * moved, 1));
    }
  });

  test('a histogram of all events, in a window that moves', async () => {
    const twins = await flushedTwins(500);
    for (const moved of [0, 1, 20]) {
      // The newest event is in minute 499.
      await twins.expectEqual(ofAll(question(350 + moved, 650 + moved)));
    }
  });

  test('events that have expired', async () => {
    const twins = await flushedTwins(900);
    await twins.expectEqual(...looks(0, 900));
    await twins.expireAfter(22);
    const { page } = await twins.caching.explore(question(0, 900));
    expect(page.total).toBeLessThan(900);
    await twins.expectEqual(...looks(0, 900));
    await twins.append(minutes(900, 5));
    await twins.expectEqual(...looks(0, 900));
  });

  test('a histogram of all events, after some have expired', async () => {
    const twins = await flushedTwins(900);
    const plan = ofAll(question(0, 900));
    await twins.expectEqual(plan);
    await twins.expireAfter(22);
    await twins.expectEqual(plan);
  });

  test('one event more, flushed before the question is asked again', async () => {
    const twins = await flushedTwins(200);
    await twins.expectEqual(...looks(0, 300));
    await twins.append(minutes(200, 1));
    await twins.flush();
    await twins.expectEqual(...looks(0, 300));
  });

  test('events that expire while the question is answered belong to it, and not to the next one', async () => {
    const twins = await flushedTwins(900);
    const plan = question(0, 900, blockedIn(0, 900));
    const before = await twins.caching.explore(plan);
    await twins.append(minutes(900, 1));
    const answered = twins.caching.explore(plan);
    await twins.expireAfter(22);
    expect([900, (await twins.caching.explore(plan)).page.total]).toContain((await answered).page.total);
    expect(before.page.total).toBe(900);
    await twins.expectEqual(plan);
  });
});

/** The sums of the histogram and of the zones, which have to be the total, and the total. */
function sums({ page, histogram, facets }: ExploreResult): readonly (number | undefined)[] {
  const zones = facets?.find(({ field }) => field === 'shieldZoneId')?.values.reduce((sum, { count }) => sum + count, 0);
  return [histogram?.series[0]?.total, zones, page.total];
}

test('questions at the same time, while all is flushed and merged, count every event once', async () => {
  const twins = await Twins.open();
  const plan = ofAll(question(-60, 900));
  for (let part = 1; part <= 6; part += 1) {
    await twins.append(minutes((part - 1) * 40, 40));
    const asked = Array.from({ length: 2 }, () => twins.caching.explore(plan));
    const changing = part % 3 === 0 ? twins.flush().then(() => twins.merge()) : Promise.resolve();
    for (const answer of await Promise.all(asked)) {
      expect(sums(answer)).toEqual([part * 40, part * 40, part * 40]);
    }
    await changing;
    await twins.expectEqual(question(-60, 900), plan);
  }
});

test('a question that is answered after a later one counts none of the events that are only in the later one', async () => {
  const twins = await flushedTwins(300);
  const plan = ofAll(question(-60, 900));
  // Its page takes long, and it counts afterwards.
  const output = { kind: 'groups', by: ['url', 'ip'], buckets: 500 } as const;
  const slow = { ...plan, search: { ...plan.search, output, page: { index: 0, size: 500 } } };
  for (let from = 300; from < 600; from += 30) {
    const earlier = twins.caching.explore(slow);
    await twins.caching.append(canonicalBatch(minutes(from, 30)));
    await twins.caching.explore(plan);
    const [ofHistogram, ofZones] = sums(await earlier);
    expect(ofHistogram).toBe(ofZones);
  }
  expect(sums(await twins.caching.explore(plan))).toEqual([600, 600, 600]);
});

describe('the memory of the cache', () => {
  const planOf = (length: number) => explorePlan({ window: { fromMs: 0, toMs: length } }).search;
  const extentOf = (length: number) => ({ window: { fromMs: 0, toMs: length }, endSequence: 1n, expiries: 0 });
  const chartOf = (length: number) => ({
    extent: extentOf(length),
    request: { buckets: 500, by: null },
    values: [],
    series: [new Array<number>(500).fill(0)],
  });

  test('holds what was used last, and histograms without values count', () => {
    const cache = new ExplorationCache({ of: () => 0n }, 20_000);
    for (let length = 1; length <= 100; length += 1) {
      cache.keep({ plan: planOf(length), extent: extentOf(length) }, new Map(), chartOf(length));
    }
    const kept = Array.from({ length: 100 }, (_, index) => index + 1).filter((length) => cache.of(planOf(length)) !== undefined);
    expect(kept).toEqual([98, 99, 100]);
  });

  test('takes nothing for a question that counted nothing, and loses nothing by it', () => {
    const cache = new ExplorationCache({ of: () => 0n });
    cache.keep({ plan: planOf(1), extent: extentOf(1) }, new Map(), undefined);
    expect(cache.of(planOf(1))).toBeUndefined();
    cache.keep({ plan: planOf(1), extent: extentOf(1) }, new Map(), chartOf(1));
    cache.keep({ plan: planOf(1), extent: extentOf(1) }, new Map(), undefined);
    expect(cache.of(planOf(1))?.histogram).toEqual(chartOf(1));
  });
});

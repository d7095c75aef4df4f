import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SearchPlan } from '../../../../query/search-plan.ts';
import type { OpenStore, StoreOptions } from '../../../../store/embedded/open-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, rowsPlan, storedIds, ZONE } from '../stored-events.ts';

const FROM_DE: SearchPlan['where'] = { kind: 'equals', column: 'country', values: ['DE'], folded: false };
const BY_COUNTRY: SearchPlan['output'] = { kind: 'groups', by: ['country'], buckets: 4 };
const DAY = { fromMs: NOW - 24 * HOUR, toMs: NOW };
const CUT = { fromMs: NOW - 15.5 * HOUR, toMs: NOW - 2.2 * HOUR };

const EVENTS = Array.from({ length: 600 }, (_, index) =>
  event(`e${index}`, NOW - 20 * HOUR + ((index * 7_919) % 1_200) * 60_000, {
    country: ['DE', 'FR', undefined][index % 3],
    url: `/a?b=${index}`,
  }),
);

/** A store whose events lie in several segments, and one in a memtable. */
async function filledStore(dataDir: string, options: Partial<StoreOptions> = {}): Promise<OpenStore> {
  const store = await storeIn(dataDir, options);
  for (let first = 0; first < EVENTS.length; first += 150) {
    await store.append(canonicalBatch(EVENTS.slice(first, first + 150)));
    await store.flushNow();
  }
  await store.append(canonicalBatch([event('hot', NOW - 3 * HOUR, { country: 'DE' })]));
  return store;
}

async function withTable(store: OpenStore, plan = rowsPlan()): Promise<void> {
  await store.search(plan);
  await store.search(plan);
  await store.zoneRowCacheIdle();
  expect(store.stats().cachedZones).toBe(1);
}

test.each([
  ['the first page', {}],
  ['a page further back', { page: { index: 11, size: 50 } }],
  ['all events of a window that cuts through the segments', { window: CUT }],
  ['some events', { where: FROM_DE, window: DAY }],
  ['some events of such a window', { where: FROM_DE, window: CUT, page: { index: 1, size: 40 } }],
  ['groups', { output: BY_COUNTRY, window: DAY }],
  ['groups of some events of such a window', { output: BY_COUNTRY, where: FROM_DE, window: CUT }],
])('of a zone in memory %s are what they were, asked once and again, without its segments being there', async (_, more) => {
  const dataDir = temporaryFolder();
  const plan = rowsPlan(more);
  // What groups are cached of is read from those segments that lie in the window.
  const store = await filledStore(dataDir, { cachesCounts: plan.output.kind === 'rows' });
  const before = await store.search(plan);
  await withTable(store);
  const segments = readdirSync(join(dataDir, 'segments')).filter((file) => !file.includes('-log'));
  expect(segments.length).toBeGreaterThan(3);
  mkdirSync(join(dataDir, 'away'));
  for (const file of segments) {
    renameSync(join(dataDir, 'segments', file), join(dataDir, 'away', file));
  }
  for (const link of readdirSync(join(dataDir, 'links'))) {
    rmSync(join(dataDir, 'links', link));
  }
  expect(await store.search(plan)).toEqual(before);
  expect(await store.search(plan)).toEqual(before);
});

test('searches see every event that is stored, and each once, while events are flushed and merged and tables come and go', async () => {
  const store = await filledStore(temporaryFolder(), { zoneRowCache: { remadeAfterMs: 0 } });
  const stored = [...EVENTS, event('hot', NOW - 3 * HOUR)];
  await withTable(store);
  let tables = 0;
  for (let round = 0; round < 10; round += 1) {
    const more = eventSeries(`more${round}-`, 20, NOW - 10 * HOUR + round * 60_000, 1_000);
    await store.append(canonicalBatch(more));
    stored.push(...more);
    const change = round % 5 === 4 ? store.compactNow() : round % 2 === 0 ? store.flushNow() : Promise.resolve();
    const found = await Promise.all([storedIds(store), storedIds(store), storedIds(store)]);
    await change;
    const expected = inAnswerOrder(stored);
    expect(found).toEqual([expected, expected, expected]);
    tables += store.stats().cachedZones;
  }
  expect(tables).toBeGreaterThan(0);
});

test('a search that runs out of memory fails, and the tables give way', async () => {
  const dataDir = temporaryFolder();
  const filling = await filledStore(dataDir);
  const longs = Array.from({ length: 60 }, (_, index) => ({
    ...event(`l${index}`, NOW),
    shieldZoneId: 9,
    ruleId: `${index}${'x'.repeat(900_000)}`,
  }));
  await filling.flushNow();
  await filling.append(canonicalBatch(longs));
  await filling.flushNow();
  await filling.close();
  const store = await storeIn(dataDir, { memoryLimitMb: 64 });
  await withTable(store);
  await expect(store.search(rowsPlan({ zoneId: 9, output: BY_COUNTRY }))).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('not enough memory for this search'),
  });
  expect(store.stats()).toMatchObject({ cachedZones: 0, cachedZoneBytes: 0 });
  expect(await storedIds(store)).toHaveLength(EVENTS.length + 1);
});

test('a store that is closed while a zone is being read into memory closes', async () => {
  const store = await storeIn(temporaryFolder());
  for (let segment = 0; segment < 4; segment += 1) {
    await store.append(canonicalBatch(eventSeries(`s${segment}-`, 4_000, NOW - 20 * HOUR, 1_000)));
    await store.flushNow();
  }
  await store.search(rowsPlan());
  await store.search(rowsPlan());
  await store.close();
  await expect(store.search(rowsPlan({ zoneId: ZONE }))).rejects.toThrow('the store is closed');
});

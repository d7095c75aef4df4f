import { expect, onTestFinished, test } from 'vitest';
import type { SearchPlan } from '../../../../query/plan/search-plan.ts';
import { ConnectionPool } from '../../../../store/embedded/duckdb/connection-pool.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { ThreadPolicy } from '../../../../store/embedded/duckdb/thread-policy.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import type { GroupCache } from '../../../../store/embedded/search/group-search.ts';
import { SearchRunner } from '../../../../store/embedded/search/search-runner.ts';
import { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import type { StoreOptions, StoreTuning } from '../../../../store/embedded/store-options.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { Readings } from '../../../../store/readings.ts';
import { answered } from '../../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { segmentChecks } from '../integrity/segment-checks-under-test.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, rowsPlan, storedIds } from '../stored-events.ts';

const BY_COUNTRY: SearchPlan['output'] = { kind: 'groups', by: ['country'], buckets: 4 };
const EVENTS = Array.from({ length: 600 }, (_, index) =>
  event(`e${index}`, NOW - 20 * HOUR + ((index * 7_919) % 1_200) * 60_000, {
    country: ['DE', 'FR', undefined][index % 3],
    url: `/a?b=${index}`,
  }),
);

/** A store with several segments, and one more event in the memtable. */
async function filledStore(dataDir: string, options: Partial<StoreOptions> & StoreTuning = {}): Promise<OpenStore> {
  const store = await embeddedStoreIn(dataDir, options);
  for (let first = 0; first < EVENTS.length; first += 150) {
    await store.append(canonicalBatch(EVENTS.slice(first, first + 150)));
    await store.flushNow();
  }
  await store.append(canonicalBatch([event('hot', NOW - 3 * HOUR, { country: 'DE' })]));
  return store;
}

test('searches see every event that is stored, and each once, while events are flushed and merged', async () => {
  const store = await filledStore(temporaryFolder());
  const stored = [...EVENTS, event('hot', NOW - 3 * HOUR)];
  for (let round = 0; round < 10; round += 1) {
    const more = eventSeries(`more${round}-`, 20, NOW - 10 * HOUR + round * 60_000, 1_000);
    await store.append(canonicalBatch(more));
    stored.push(...more);
    const change = round % 5 === 4 ? store.compactNow() : round % 2 === 0 ? store.flushNow() : Promise.resolve();
    const found = await Promise.all([storedIds(store), storedIds(store), storedIds(store)]);
    await change;
    const expected = inAnswerOrder(stored);
    expect(found).toEqual([expected, expected, expected]);
  }
});

test('a search that runs out of memory is refused, and the next one is answered', async () => {
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
  const store = await embeddedStoreIn(dataDir, { memoryLimitMb: 64 });
  await expect(store.search(rowsPlan({ zones: [9], output: BY_COUNTRY }))).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('not enough memory for this search'),
  });
  expect(await storedIds(store)).toHaveLength(EVENTS.length + 1);
});

/** A runner over a store without events, whose clock stands still until the test moves it. */
async function runnerUnderTest(groups?: GroupCache) {
  const engine = await startEngine({ memoryLimitMb: 64, spillFolder: temporaryFolder(), threads: 4 });
  const [settings, looking] = [await engine.connect(), await engine.connect()];
  const clock = { ms: 0 };
  const threads = new ThreadPolicy({
    runner: new StatementRunner(settings),
    cores: 4,
    idleMs: 60_000,
    mainThreadUse: () => 0.2,
    now: () => clock.ms,
    logger: silentLogger,
  });
  onTestFinished(() => threads.stop());
  const versions = new VersionSet({ segments: [], blobFiles: [] }, 1n, () => undefined);
  const pool = await ConnectionPool.open(engine, { kept: 1 });
  const runner = new SearchRunner({
    versions,
    aliases: pathAliases('/nowhere'),
    checks: segmentChecks('/nowhere', versions),
    connections: pool,
    threads,
    counts: undefined,
    explorations: undefined,
    groups,
  });
  return { runner, pool, threads, clock, threadsOfAQuery: async () => Number((await looking.runAndReadAll(THREADS)).getRows()[0]?.[0]) };
}

const THREADS = "SELECT current_setting('threads')";
const READING = new Readings().begin(undefined);

test('a search that is refused counts as over: bulk loads take the cores back', async () => {
  const { runner, pool, threads, clock, threadsOfAQuery } = await runnerUnderTest();
  pool.close();
  await expect(runner.search(rowsPlan(), READING)).rejects.toMatchObject({ code: 'closed' });
  clock.ms += 60_000;
  const loading = () => {
    threads.load(4_000);
    return threadsOfAQuery();
  };
  await expect.poll(loading, { interval: 1 }).toBe(2);
});

/** A cache for whose groups there is never enough memory, and how often it was asked and evicted. */
function cacheWithoutMemory() {
  const steps: string[] = [];
  const groups: GroupCache = {
    find: () => {
      steps.push('find');
      return Promise.reject(new Error('Out of Memory Error: failed to allocate'));
    },
    answered: () => steps.push('answered'),
    evictAll: () => {
      steps.push('evict all');
      return Promise.resolve();
    },
  };
  return { groups, steps };
}

test('a group search that runs out of memory evicts the cache, and is made without it', async () => {
  const { groups, steps } = cacheWithoutMemory();
  const { runner } = await runnerUnderTest(groups);
  expect(await runner.search(rowsPlan({ output: BY_COUNTRY }), READING)).toEqual({ kind: 'groups', groups: [], total: 0 });
  expect(steps).toEqual(['find', 'evict all']);
});

test('a row search asks nothing of the cache of groups', async () => {
  const { groups, steps } = cacheWithoutMemory();
  const { runner } = await runnerUnderTest(groups);
  expect(await answered(await runner.search(rowsPlan(), READING))).toEqual({ kind: 'rows', rows: [], total: 0 });
  expect(steps).toEqual([]);
});

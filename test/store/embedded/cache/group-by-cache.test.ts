import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Dimension } from '../../../../query/event-fields.ts';
import type { GroupsOutput } from '../../../../query/plan/search-plan.ts';
import { GroupByCache } from '../../../../store/embedded/cache/group-by-cache.ts';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { rememberFooters, startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { type RunnerConnection, StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { retryWithLess } from '../../../../store/embedded/feed/retry-with-less.ts';
import { SearchScope } from '../../../../store/embedded/search/search-scope.ts';
import { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { segmentChecks } from '../integrity/segment-checks-under-test.ts';
import { eventSeries, HOUR, NOW, rowsPlan } from '../stored-events.ts';

const EVENTS = 2_000;
const by = (...dimensions: Dimension[]): GroupsOutput => ({ kind: 'groups', by: dimensions, buckets: 0 });

/** The segments of a store, an engine to read them, and a cache whose tables are dropped when a test waits for that. */
async function cacheUnderTest(limits: { readonly budgetBytes: number; readonly maxGroups: number }) {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const events = eventSeries('e', EVENTS, NOW - 40 * HOUR, 60_000).map((one, index) => ({
    ...one,
    ip: `ip ${index % 50}`,
    url: `url ${index}`,
  }));
  await store.append(canonicalBatch(events));
  await store.flushNow();
  await store.close();
  const catalog = new Catalog(join(dataDir, 'catalog.sqlite'));
  const spillFolder = join(dataDir, 'spill');
  mkdirSync(spillFolder, { recursive: true });
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder });
  const [connection, dropping] = await Promise.all([engine.connect(), engine.connect()]);
  await rememberFooters(connection);
  const versions = new VersionSet({ segments: catalog.segments(), blobFiles: [] }, BigInt(EVENTS + 1), () => undefined);
  const toDrop: string[] = [];
  const dropTable = (name: string) => {
    toDrop.push(name);
  };
  const dropped = async () => {
    for (const name of toDrop.splice(0)) {
      await dropping.run(`DROP TABLE IF EXISTS ${name}`);
    }
  };
  const cache = new GroupByCache({ ...limits, versions, dropTable, dropped });
  onTestFinished(() => {
    connection.closeSync();
    dropping.closeSync();
    engine.closeSync();
    catalog.close();
  });
  const aliases = pathAliases(join(dataDir, 'segments'));
  const checks = segmentChecks(join(dataDir, 'segments'), versions);
  const following: (() => void)[] = [];
  /** `then` happens after the next statement. */
  const afterStatement = (then: () => void) => following.push(then);
  const watched: RunnerConnection = {
    run: async (...statement) => {
      const result = await connection.run(...statement);
      following.shift()?.();
      return result;
    },
    stream: (...statement) => connection.stream(...statement),
    interrupt: () => connection.interrupt(),
  };
  const scopeOf = (signal?: AbortSignal) =>
    SearchScope.open(rowsPlan(), {
      snapshot: versions.snapshot(),
      aliases,
      check: (segments, zones) => checks.check(segments, zones),
      runner: new StatementRunner(watched, aliases, signal),
      signal,
    });
  /** The name of the table that a search reads. */
  const use = async (output: GroupsOutput, signal?: AbortSignal) => {
    using entry = await cache.hold(await scopeOf(signal), output);
    return entry?.table;
  };
  const tables = async () => {
    await dropped();
    return await tablesNow();
  };
  const tablesNow = async () => {
    const rows = (await connection.runAndReadAll('SELECT table_name FROM duckdb_tables() ORDER BY table_name')).getRows();
    return rows.map(([name]) => String(name));
  };
  const limitMemory = (limit: string) => dropping.run(`SET GLOBAL memory_limit = '${limit}'`);
  return { cache, versions, aliases, use, tables, tablesNow, scopeOf, limitMemory, afterStatement };
}

const ROOM = { budgetBytes: 1_000_000, maxGroups: 1_000 };

test('a search is cached when it is made for the second time, and from then on', async () => {
  const { use, tables } = await cacheUnderTest(ROOM);
  expect(await use(by('ip'))).toBeUndefined();
  expect(await tables()).toEqual([]);
  expect(await use(by('ip'))).toBe('groups_1');
  expect(await use(by('ip'))).toBe('groups_1');
  expect(await use({ ...by('ip'), buckets: 3 })).toBeUndefined();
  expect(await tables()).toEqual(['groups_1']);
});

test('what two searches find out at the same time is kept once', async () => {
  const { use, tables } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  expect(await Promise.all([use(by('ip')), use(by('ip'))])).toEqual(['groups_1', undefined]);
  expect(await tables()).toEqual(['groups_1']);
});

test('too many groups are counted once, and not at all where the answer said how many there are', async () => {
  const { cache, use, tables, scopeOf } = await cacheUnderTest(ROOM);
  await use(by('url'));
  expect(await use(by('url'))).toBeUndefined();
  expect(await tables()).toEqual([]);
  expect(await use(by('url'))).toBeUndefined();
  await use(by('ip', 'url'));
  cache.answered(await scopeOf(), by('ip', 'url'), EVENTS);
  expect(await use(by('ip', 'url'))).toBeUndefined();
  await use(by('ip'));
  // The second table of all: the first was for the urls, and the addresses with their urls got none.
  expect(await use(by('ip'))).toBe('groups_2');
});

test('what is in use makes no room for others, and what was not used for long does', async () => {
  const { use, tables } = await cacheUnderTest({ ...ROOM, budgetBytes: 2_500 });
  await use(by('ip'));
  expect(await use(by('ip'))).toBe('groups_1');
  await use(by('ip', 'country'));
  expect(await use(by('ip', 'country'))).toBeUndefined();
  expect(await tables()).toEqual(['groups_1']);
  for (let other = 0; other < 100; other += 1) {
    await use(by('country', 'asn'));
  }
  await use(by('ip', 'action'));
  expect(await use(by('ip', 'action'))).toBe('groups_4');
  expect(await tables()).toEqual(['groups_3', 'groups_4']);
});

test('a table that is being read goes when it has been read', async () => {
  const { cache, versions, use, tables, scopeOf } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  const read = await cache.hold(await scopeOf(), by('ip'));
  expect(await tables()).toEqual(['groups_1']);
  versions.exchange({ removeSegments: versions.segments.slice(0, 1) });
  expect(await use(by('ip'))).toBeUndefined();
  expect(await tables()).toEqual(['groups_1']);
  read?.[Symbol.dispose]();
  expect(await tables()).toEqual([]);
});

test('an entry of segments that were removed while it was filled is not kept', async () => {
  const { versions, use, tables, afterStatement } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  afterStatement(() => versions.exchange({ removeSegments: versions.segments.slice(0, 1) }));
  expect(await use(by('ip'))).toBeUndefined();
  expect(await tables()).toEqual([]);
});

test('a search for whose groups the engine has no memory leaves no table, and the next one is made without the cache', async () => {
  const { use, tables, limitMemory } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  await limitMemory('100KiB');
  await expect(use(by('ip'))).rejects.toThrow('Out of Memory Error');
  await limitMemory('256MiB');
  expect(await use(by('ip'))).toBeUndefined();
  expect(await tables()).toEqual([]);
});

test('where the engine has no memory left for a search, what is cached is evicted and the search made again', async () => {
  const { cache, use, tables, tablesNow, limitMemory, scopeOf } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  await use(by('ip'));
  let times = 0;
  const search = async () => {
    times += 1;
    expect(await tablesNow()).toEqual(times === 1 ? ['groups_1'] : []);
    await limitMemory(times === 1 ? '100KiB' : '256MiB');
    const rows = await (await scopeOf()).runner.run({
      text: 'SELECT count(*) FROM (SELECT DISTINCT range FROM range(1000000))',
      params: [],
    });
    return Number(rows[0]?.[0]);
  };
  const evictCaches = () => cache.evictAll();
  expect(await retryWithLess(search, evictCaches, 'no memory')).toBe(1_000_000);
  expect(times).toBe(2);
  expect(await tables()).toEqual([]);
});

test('a search that was interrupted while its groups were to be cached is made without from then on', async () => {
  const { use, tables } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  const deadline = new Error('too slow');
  await expect(use(by('ip'), AbortSignal.abort(deadline))).rejects.toBe(deadline);
  expect(await use(by('ip'))).toBeUndefined();
  expect(await tables()).toEqual([]);
});

test('where the details of a page could not be read they are not read for the cache again', async () => {
  const { cache, use, scopeOf, aliases } = await cacheUnderTest(ROOM);
  await use(by('ip'));
  await use(by('ip'));
  for (const folder of [aliases.segmentsFolder, aliases.linksFolder]) {
    rmSync(folder, { recursive: true });
  }
  const find = async () => await cache.find(await scopeOf(), by('ip'));
  await expect(find()).rejects.toThrow('No files found');
  using entry = await cache.hold(await scopeOf(), by('ip'));
  expect(entry?.isFull).toBe(true);
});

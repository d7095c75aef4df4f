import { expect, onTestFinished, test } from 'vitest';
import { ConnectionPool } from '../../../../store/embedded/duckdb/connection-pool.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { FeedReader } from '../../../../store/embedded/feed/feed-reader.ts';
import { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';
import { event, NOW } from '../stored-events.ts';

/** A reader that has no connection to read with. */
async function readerWithoutDuckdb(versions: VersionSet): Promise<FeedReader> {
  const engine = await startEngine({ memoryLimitMb: 64, spillFolder: temporaryFolder() });
  onTestFinished(() => engine.closeSync());
  const connections = await ConnectionPool.open(engine, 0, 0);
  return new FeedReader({
    versions,
    aliases: pathAliases('/nowhere'),
    connections,
    windowBudget: { events: 10, bytes: 1_000 },
    evictAll: () => undefined,
  });
}

const { signal } = new AbortController();

test('a poll with nothing new for its zones needs no DuckDB, and moves on behind what was for others', async () => {
  const extent = { minTimestamp: NOW, maxTimestamp: NOW, minSequence: 1n, maxSequence: 10n };
  const segment = { id: 1, file: 'gone.parquet', rows: 10, bytes: 1, ...extent, zoneRows: new Map([[7, 10]]) };
  const versions = new VersionSet({ segments: [segment], blobFiles: [] }, 11n, () => undefined);
  const reader = await readerWithoutDuckdb(versions);
  const poll = (zones: readonly number[] | 'all', afterSequence: bigint) => reader.read({ zones, afterSequence, limit: 10 }, signal);
  expect(await poll('all', 10n)).toEqual({ lines: [], lastSequence: 10n, more: false });
  expect(await poll([7], 10n)).toEqual({ lines: [], lastSequence: 10n, more: false });
  expect(await poll([8], 0n)).toEqual({ lines: [], lastSequence: 10n, more: false });
  versions.advance(15n, [8]);
  expect(await poll([7], 10n)).toEqual({ lines: [], lastSequence: 14n, more: false });
  for (const zones of [[8], [7, 8], 'all'] as const) await expect(poll(zones, 10n)).rejects.toMatchObject({ code: 'overloaded' });
});

test('who listens is told soon after events are visible, until it stops', async () => {
  const store = await storeIn(temporaryFolder());
  const heard: bigint[] = [];
  const stop = store.onEvents(() => heard.push(store.lastSequence()));
  await store.append(canonicalBatch([event('a', NOW), event('b', NOW)]));
  await expect.poll(() => heard).toEqual([2n]);
  await store.append(canonicalBatch([event('c', NOW)]));
  await expect.poll(() => heard).toEqual([2n, 3n]);
  stop();
  await store.append(canonicalBatch([event('d', NOW)]));
  await store.flushNow();
  expect(heard).toEqual([2n, 3n]);
});

test('a store says who it is, for as long as its folder lives', async () => {
  const [dataDir, other] = [temporaryFolder(), temporaryFolder()];
  const store = await storeIn(dataDir);
  const id = store.storeId();
  await store.close();
  expect((await storeIn(dataDir)).storeId()).toBe(id);
  expect((await storeIn(other)).storeId()).not.toBe(id);
});

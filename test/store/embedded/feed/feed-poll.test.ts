import { expect, onTestFinished, test } from 'vitest';
import { ConnectionPool } from '../../../../store/embedded/duckdb/connection-pool.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { FeedPages } from '../../../../store/embedded/feed/feed-pages.ts';
import { feedPosition, sequenceOf } from '../../../../store/embedded/feed/feed-positions.ts';
import { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from '../duckdb/path-aliases-under-test.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { segmentChecks } from '../integrity/segment-checks-under-test.ts';
import { event, NOW } from '../stored-events.ts';

/** A reader whose connections are closed. */
async function readerWithoutDuckdb(versions: VersionSet): Promise<FeedPages> {
  const engine = await startEngine({ memoryLimitMb: 64, spillFolder: temporaryFolder() });
  onTestFinished(() => engine.closeSync());
  const connections = await ConnectionPool.open(engine, { kept: 0 });
  connections.close();
  return new FeedPages({
    versions,
    aliases: pathAliases('/nowhere'),
    checks: segmentChecks('/nowhere', versions),
    connections,
    excerptBudget: { events: 10, bytes: 1_000 },
    evictCaches: () => Promise.resolve(),
  });
}

const { signal } = new AbortController();

test('a poll with nothing new for its zones needs no DuckDB, and moves on behind what was for others', async () => {
  const extent = { minTimestamp: NOW, maxTimestamp: NOW, minSequence: 1n, maxSequence: 10n };
  const segment = { id: 1, file: 'gone.parquet', rows: 10, bytes: 1, ...extent, zoneRows: new Map([[7, 10]]) };
  const versions = new VersionSet({ segments: [segment], blobFiles: [] }, 11n, () => undefined);
  const reader = await readerWithoutDuckdb(versions);
  const poll = (zones: readonly number[] | 'all', afterSequence: bigint) =>
    reader.read({ wanted: { zones }, afterSequence, limit: 10 }, signal);
  expect(await poll('all', 10n)).toEqual({ lines: [], lastSequence: 10n, more: false, lookedAt: 0 });
  expect(await poll([7], 10n)).toEqual({ lines: [], lastSequence: 10n, more: false, lookedAt: 0 });
  expect(await poll([8], 0n)).toEqual({ lines: [], lastSequence: 10n, more: false, lookedAt: 0 });
  versions.advance(15n, [8]);
  expect(await poll([7], 10n)).toEqual({ lines: [], lastSequence: 14n, more: false, lookedAt: 0 });
  for (const zones of [[8], [7, 8], 'all'] as const) await expect(poll(zones, 10n)).rejects.toMatchObject({ code: 'closed' });
});

test('who listens is told soon after events are visible, until it stops', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const heard: bigint[] = [];
  const stop = store.onEvents(() => void store.positions.newest().then((position) => heard.push(sequenceOf(position))));
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
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch([event('a', NOW)]));
  const cursor = store.positions.encode(await store.positions.newest());
  await store.close();
  expect(await (await embeddedStoreIn(dataDir)).positions.decode(cursor)).toEqual(feedPosition(1n));
  expect(await (await embeddedStoreIn(other)).positions.decode(cursor)).toBe('is a cursor of another store: it means nothing here');
});

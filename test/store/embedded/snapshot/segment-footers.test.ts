import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectionPool } from '../../../../store/embedded/duckdb/connection-pool.ts';
import { rememberFooters, startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { readFooters } from '../../../../store/embedded/snapshot/segment-footers.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { twoSegments } from '../compaction/two-segments.ts';

/** The footers of two segments, and how many bytes of footers DuckDB holds. */
async function footersOfTwo(shareMb = 16) {
  const { versions, segments, options } = await twoSegments();
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: 1 });
  const connections = await ConnectionPool.open(engine, { kept: 1, errors: options.aliases, prepare: rememberFooters });
  const looking = await engine.connect();
  onTestFinished(() => {
    connections.close();
    engine.closeSync();
  });
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (details: object) => void warnings.push(details) };
  const bytesHeld = async () => {
    const reader = await looking.runAndReadAll("SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'OBJECT_CACHE'");
    return Number(reader.getRows()[0]?.[0]);
  };
  const pathOf = (index: number) => options.aliases.segmentPath(segments[index]?.file ?? '');
  return {
    read: () => readFooters({ ...options, connections, shareMb, logger }),
    versions,
    segments,
    warnings,
    bytesHeld,
    pathOf,
  };
}

test('DuckDB holds the footers of all segments before anything is searched', async () => {
  const { read, warnings, bytesHeld } = await footersOfTwo();
  expect(await bytesHeld()).toBe(0);
  await read();
  expect(await bytesHeld()).toBeGreaterThan(2_000);
  expect(warnings).toEqual([]);
});

test('with little memory only the footer of the newest segment is read', async () => {
  const { read, bytesHeld } = await footersOfTwo(0.5);
  await read();
  const ofOne = await bytesHeld();
  expect(ofOne).toBeGreaterThan(0);
  const all = await footersOfTwo();
  await all.read();
  expect(await all.bytesHeld()).toBeGreaterThan(ofOne);
});

test('a segment that is damaged is contained, and the others are read', async () => {
  const { read, pathOf, versions, segments, bytesHeld } = await footersOfTwo();
  writeFileSync(pathOf(1), 'damaged');
  await read();
  await read();
  expect(versions.damaged.map(({ segment }) => segment)).toEqual([segments[1]]);
  expect(await bytesHeld()).toBeGreaterThan(0);
});

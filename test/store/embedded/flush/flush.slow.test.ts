import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { rowsOf } from '../../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { seededBytes } from '../../../random/run-seed.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, rowsPlan, storedIds } from '../stored-events.ts';

/** Reads BIGINT columns of a file, in the order of its rows. */
async function readParquet(path: string, columns: string): Promise<bigint[][]> {
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  try {
    const reader = await connection.runAndReadAll(`SELECT ${columns} FROM read_parquet('${path}') ORDER BY file_row_number`);
    return reader.getRows() as bigint[][];
  } finally {
    connection.closeSync();
    engine.closeSync();
  }
}

const filesIn = (dataDir: string) => readdirSync(join(dataDir, 'segments'));
const segmentFiles = (dataDir: string) => filesIn(dataDir).filter((name) => !name.endsWith('-log.parquet'));
const blobFilesIn = (dataDir: string) => filesIn(dataDir).filter((name) => name.endsWith('-log.parquet'));

test('flushing moves the events into segments by time and removes their journals', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const events = eventSeries('e', 48, NOW - 24 * HOUR, HOUR / 2);
  await store.append(canonicalBatch(events));
  await store.flushNow();
  expect(await storedIds(store)).toEqual(inAnswerOrder(events));
  // 24 hours from 15:30 touch three time partitions of twelve hours.
  expect(await store.stats()).toMatchObject({ events: 48, unflushedEvents: 0, segments: 3, journalBytes: 0 });
  expect(readdirSync(join(dataDir, 'journal'))).toEqual([]);
  expect(segmentFiles(dataDir)).toHaveLength(3);
  // It has all the logs.
  expect(blobFilesIn(dataDir)).toHaveLength(1);
});

test('segment files are named by the clock of the store, which may stand still', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir, { now: () => NOW });
  const names: string[][] = [];
  for (let part = 0; part < 8; part += 1) {
    await store.append(canonicalBatch([event(`e${part}`, NOW)]));
    await store.flushNow();
    names.push(segmentFiles(dataDir));
  }
  expect(names.at(-1)).toHaveLength(8);
  await store.compactNow();
  expect((await store.stats()).segments).toBe(1);
  names.push(segmentFiles(dataDir), blobFilesIn(dataDir));
  expect(names.flat().filter((name) => !name.includes(`-${NOW.toString(36)}-`))).toEqual([]);
  expect(await storedIds(store)).toHaveLength(8);
});

test('an hour with many events gets a segment of its own', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch(eventSeries('e', 60_000, NOW - 2 * HOUR, 120)));
  await store.flushNow();
  expect(await store.stats()).toMatchObject({ events: 60_000, segments: 3 });
});

test('a search sees every event exactly once while tables are flushed and segments merged', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const events = eventSeries('e', 200, NOW - 20 * HOUR, HOUR / 10);
  let stored = 0;
  let done = false;
  const counts: number[] = [];
  const watch = async () => {
    while (!done) {
      const atLeast = stored;
      const result = await store.search(rowsPlan());
      const ids = (await rowsOf(result)).map(({ logId }) => logId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(result.total).toBe(ids.length);
      expect(ids.length).toBeGreaterThanOrEqual(atLeast);
      counts.push(ids.length);
      // A search of nothing never waits, and would not let other work run.
      await yieldToOthers();
    }
  };
  const watchers = [watch(), watch()];
  for (let first = 0; first < events.length; first += 20) {
    await store.append(canonicalBatch(events.slice(first, first + 20)));
    stored = first + 20;
    const flushed = store.flushNow();
    await store.compactNow();
    await flushed;
  }
  done = true;
  await Promise.all(watchers);
  expect(counts.length).toBeGreaterThan(5);
  expect(await storedIds(store)).toEqual(inAnswerOrder(events));
});

test('merging makes few segments of many and keeps every event', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir, { now: () => NOW });
  const events = eventSeries('e', 300, NOW - 30 * HOUR, HOUR / 10);
  for (let part = 0; part < 10; part += 1) {
    await store.append(canonicalBatch(events.filter((_, index) => index % 10 === part)));
    await store.flushNow();
  }
  expect((await store.stats()).segments).toBe(40);
  await store.compactNow();
  expect(await store.stats()).toMatchObject({ events: 300, segments: 4 });
  expect(await storedIds(store)).toEqual(inAnswerOrder(events));
  await store.close();
  expect(segmentFiles(dataDir)).toHaveLength(4);
  expect(await storedIds(await embeddedStoreIn(dataDir))).toEqual(inAnswerOrder(events));
});

test.each([
  ['one segment', 1, HOUR / 2],
  ['two segments', 2, 12 * HOUR],
  ['several segments', 3, 24 * HOUR],
])('%s of a flush, and of a merge, are in the order of zone and time, and every event has its own log', async (_what, segments, spanMs) => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir, { now: () => NOW });
  const count = 10_000;
  const shuffled = (index: number) => (index * 7_919) % count;
  const events = Array.from({ length: count }, (_, index) => {
    const logId = `e${shuffled(index)}`;
    const timestamp = NOW - 50 * HOUR + Math.floor((shuffled(index) * spanMs) / count);
    return event(logId, timestamp, { shieldZoneId: index % 5, log: { of: logId } });
  });
  await store.append(canonicalBatch(events.slice(0, count / 4)));
  await store.append(canonicalBatch(events.slice(count / 4, count / 2)));
  await store.flushNow();
  await store.append(canonicalBatch(events.slice(count / 2)));
  for (const [change, expected] of [
    [() => store.flushNow(), 2 * segments],
    [() => store.compactNow(), segments],
  ] as const) {
    await change();
    expect(await store.stats()).toMatchObject({ events: count, segments: expected });
    // The merged segments are removed a little later.
    await expect.poll(() => segmentFiles(dataDir)).toHaveLength(expected);
    for (const file of segmentFiles(dataDir)) {
      const rows = await readParquet(join(dataDir, 'segments', file), '"shieldZoneId"::BIGINT, "timestamp", "seq"');
      expect(rows.filter((row, index) => index > 0 && isBefore(row, rows[index - 1] as bigint[]))).toEqual([]);
    }
    const page = await store.search(rowsPlan({ zones: [3], page: { index: 0, size: 2_000 } }));
    const rows = await rowsOf(page);
    expect(rows).toHaveLength(2_000);
    expect(rows.filter(({ logId, logJson }) => logJson !== `{"of":"${logId}"}`)).toEqual([]);
  }
});

/** Compares rows by the first number that differs. */
function isBefore(row: readonly bigint[], other: readonly bigint[]): boolean {
  const column = row.findIndex((value, index) => value !== other[index]);
  return column >= 0 && (row[column] as bigint) < (other[column] as bigint);
}

test('what is known of a zone by its segments alone agrees with what is in them', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const zones = Array.from({ length: 30 }, (_, index) => event(`z${index}`, NOW - index * HOUR, { shieldZoneId: index % 3 }));
  await store.append(canonicalBatch(zones));
  await store.flushNow();
  for (const zoneId of [0, 1, 2, 3]) {
    expect(await storedIds(store, rowsPlan({ zones: [zoneId] }))).toHaveLength(zoneId < 3 ? 10 : 0);
  }
});

test('events whose logs take much memory are flushed before there are many of them', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const log = JSON.stringify('x'.repeat(900_000));
  for (let batch = 0; batch < 6; batch += 1) {
    const events = eventSeries(`b${batch}-`, 14, NOW - 60_000, 1).map((one) => ({ ...one, log }));
    await store.append(canonicalBatch(events));
  }
  await eventually('the first of them are in segments', async () => (await store.stats()).segments > 0);
  // Of 84 events with 0.9 MB of logs each, at least the last batch is still in memory.
  expect((await store.stats()).unflushedEvents).toBeGreaterThan(0);
});

test('events with long texts are flushed where DuckDB has too little memory to sort them', async () => {
  const store = await embeddedStoreIn(temporaryFolder(), { memoryLimitMb: 256 });
  const text = (index: number) => `https://x/${index}/${seededBytes(45_000).toString('base64url')}`;
  const events = eventSeries('e', 2_000, NOW - 60_000, 1).map((one, index) => ({ ...one, url: text(index) }));
  for (let from = 0; from < events.length; from += 500) await store.append(canonicalBatch(events.slice(from, from + 500)));
  await store.flushNow();
  expect(await store.stats()).toMatchObject({ events: 2_000, unflushedEvents: 0 });
  expect(await storedIds(store)).toEqual(inAnswerOrder(events));
});

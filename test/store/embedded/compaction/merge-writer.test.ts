import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HOUR_MS } from '../../../../query/durations.ts';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { type MergeTask, MergeWriter } from '../../../../store/embedded/compaction/merge.ts';
import type { StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { nicenessOfThreads, threadsHavePriorities } from '../../niceness-of-threads.ts';
import { countingRunner } from '../counting-runner.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { eventSeries, NOW } from '../stored-events.ts';

const EVENTS = 24_000;

/** Three segments of one hour to merge into one. */
async function threeSegments(): Promise<MergeTask> {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const events = eventSeries('e', EVENTS, NOW, 10);
  for (let part = 0; part < 3; part += 1) {
    await store.append(canonicalBatch(events.slice((part * EVENTS) / 3, ((part + 1) * EVENTS) / 3)));
    await store.flushNow();
  }
  await store.close();
  const catalog = new Catalog(join(dataDir, 'catalog.sqlite'));
  const segmentsFolder = join(dataDir, 'segments');
  const paths = catalog.segments().map(({ file }) => join(segmentsFolder, file));
  catalog.close();
  expect(paths).toHaveLength(3);
  return { segmentsFolder, stem: 'merged', paths, events: EVENTS, partition: Math.floor(NOW / HOUR_MS), partitionMs: HOUR_MS };
}

function writerWith(runner: StatementRunner, memoryLimitMb = 128): MergeWriter {
  const writer = new MergeWriter({ runner, memoryLimitMb, spillFolder: join(temporaryFolder(), 'spill') });
  onTestFinished(() => writer.close());
  return writer;
}

test('in the background many events are written by a thread of its own, just as they would be at once', async () => {
  const task = await threeSegments();
  const { runner, asked, readRows } = await countingRunner();
  const writer = writerWith(runner);
  const written = await writer.writeInBackground(task);
  expect(asked()).toBe(0);
  const expected = await writer.writeAtOnce({ ...task, stem: 'here' });
  expect(asked()).toBeGreaterThan(0);
  expect(written).toEqual(expected.map((segment) => ({ ...segment, file: segment.file.replace('here', 'merged') })));
  const [rows, expectedRows] = await Promise.all(
    ['merged', 'here'].map((stem) => readRows(join(task.segmentsFolder, `${stem}-0.parquet`))),
  );
  expect(rows).toHaveLength(EVENTS);
  expect(rows).toEqual(expectedRows);
});

test('that thread stands back behind the others where threads can', async () => {
  const task = await threeSegments();
  const before = nicenessOfThreads();
  const { runner } = await countingRunner();
  await writerWith(runner).writeInBackground(task);
  const started = [...nicenessOfThreads()].filter(([thread]) => !before.has(thread)).map(([, niceness]) => niceness);
  expect([...before.values()]).not.toContain(10);
  expect(started.includes(10)).toBe(threadsHavePriorities);
});

test('few events are written where they are', async () => {
  const task = await threeSegments();
  const { runner, asked } = await countingRunner();
  const [segment] = await writerWith(runner).writeInBackground({ ...task, paths: task.paths.slice(0, 2), events: (2 * EVENTS) / 3 });
  expect(segment?.rows).toBe((2 * EVENTS) / 3);
  expect(asked()).toBeGreaterThan(0);
});

test('what the thread has too little memory for is written where there is more', async () => {
  const task = await threeSegments();
  const { runner, asked } = await countingRunner();
  const before = readdirSync(task.segmentsFolder);
  expect(await writerWith(runner, 8).writeInBackground(task)).toMatchObject([{ rows: EVENTS }]);
  expect(asked()).toBeGreaterThan(0);
  expect(readdirSync(task.segmentsFolder).sort()).toEqual([...before, 'merged-0.parquet'].sort());
});

test('a segment that cannot be read is named; nothing is left, and the next task is carried out', async () => {
  const task = await threeSegments();
  const { runner } = await countingRunner();
  const writer = writerWith(runner);
  const missing = join(temporaryFolder(), 'gone.parquet');
  const before = readdirSync(task.segmentsFolder);
  await expect(writer.writeInBackground({ ...task, paths: [...task.paths, missing] })).rejects.toThrow(missing);
  expect(readdirSync(task.segmentsFolder)).toEqual(before);
  expect(await writer.writeInBackground(task)).toMatchObject([{ rows: EVENTS }]);
});

test('a merge at once is given up, too, and leaves nothing behind; later ones do not begin', async () => {
  const task = await threeSegments();
  const { runner, asked } = await countingRunner();
  const writer = writerWith(runner);
  const before = readdirSync(task.segmentsFolder);
  const written = writer.writeAtOnce(task);
  writer.giveUp();
  await expect(written).rejects.toThrow('aborted');
  expect(readdirSync(task.segmentsFolder)).toEqual(before);
  const statements = asked();
  await expect(writer.writeInBackground({ ...task, events: 1 })).rejects.toThrow('aborted');
  expect(asked()).toBe(statements);
});

test('what is given up leaves nothing behind', async () => {
  const task = await threeSegments();
  const { runner } = await countingRunner();
  const writer = writerWith(runner);
  await writer.writeInBackground(task);
  rmSync(join(task.segmentsFolder, 'merged-0.parquet'));
  const before = readdirSync(task.segmentsFolder);
  const written = writer.writeInBackground(task);
  writer.giveUp();
  await expect(written).rejects.toThrow('INTERRUPT');
  expect(readdirSync(task.segmentsFolder)).toEqual(before);
});

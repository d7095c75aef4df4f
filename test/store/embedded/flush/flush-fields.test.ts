import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { type FieldsTask, FieldsWriter, writeFlushedFields } from '../../../../store/embedded/flush/flush-fields.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { nicenessOfThreads, threadsHavePriorities } from '../../niceness-of-threads.ts';
import { countingRunner } from '../counting-runner.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { eventSeries, NOW } from '../stored-events.ts';

const EVENTS = 24_000;

/** Four journals of an open store, and a folder for segments. */
async function fourJournals(): Promise<FieldsTask> {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const events = eventSeries('e', EVENTS, NOW, 10);
  for (let part = 0; part < 4; part += 1) {
    await store.append(canonicalBatch(events.slice((part * EVENTS) / 4, ((part + 1) * EVENTS) / 4)));
  }
  const journals = readdirSync(join(dataDir, 'journal')).filter((name) => name.endsWith('.parquet'));
  expect(journals).toHaveLength(4);
  const segmentsFolder = join(temporaryFolder(), 'segments');
  mkdirSync(segmentsFolder);
  return {
    segmentsFolder,
    stem: 'flushed',
    sources: journals.map((name) => ({ path: join(dataDir, 'journal', name) })),
    events: EVENTS,
    blobFile: 4,
    firstSequence: 1n,
    endSequence: BigInt(EVENTS) + 1n,
  };
}

async function writerWith(runner: StatementRunner): Promise<FieldsWriter> {
  const writer = new FieldsWriter(runner);
  onTestFinished(() => writer.close());
  return writer;
}

test('many journals are written by a thread of its own, just as they would be here', async () => {
  const task = await fourJournals();
  const { runner, asked } = await countingRunner();
  const writer = await writerWith(runner);
  const written = await writer.run(task, async () => undefined);
  expect(asked()).toBe(0);
  const files = written.segments.map(({ file }) => readFileSync(join(task.segmentsFolder, file)));
  const expected = await writeFlushedFields({ ...task, stem: 'here' }, runner);
  expect(written.rows).toHaveLength(EVENTS);
  expect(written.rows).toEqual(expected.rows);
  expect(written.segments.map(({ file: _, bytes: __, blocks: ___, ...content }) => content)).toEqual(
    expected.segments.map(({ file: _, bytes: __, blocks: ___, ...content }) => content),
  );
  expect(written.segments.map(({ bytes }) => bytes)).toEqual(files.map(({ length }) => length));
});

test('that thread stands back behind the others where threads can', async () => {
  const task = await fourJournals();
  const before = nicenessOfThreads();
  const { runner } = await countingRunner();
  await (await writerWith(runner)).run(task, async () => undefined);
  const started = [...nicenessOfThreads()].filter(([thread]) => !before.has(thread)).map(([, niceness]) => niceness);
  expect([...before.values()]).not.toContain(10);
  expect(started.includes(10)).toBe(threadsHavePriorities);
});

test('few events, and those of a table, are written where they are', async () => {
  const task = await fourJournals();
  const { runner, asked } = await countingRunner();
  const writer = await writerWith(runner);
  const [first] = task.sources;
  expect(first).toBeDefined();
  const { segments } = await writer.run(
    { ...task, sources: first === undefined ? [] : [first], events: EVENTS / 4 },
    async () => undefined,
  );
  expect(segments.reduce((sum, { rows }) => sum + rows, 0)).toBe(EVENTS / 4);
  expect(asked()).toBeGreaterThan(0);
  const paths = task.sources.flatMap((source) => ('path' in source ? [`'${source.path}'`] : []));
  await runner.run({ text: `CREATE TABLE collected AS SELECT * FROM read_parquet([${paths.join(', ')}])`, params: [] });
  const ofTable = await writer.run({ ...task, stem: 'table', sources: [{ table: 'collected' }] }, async () => undefined);
  expect(ofTable.rows).toHaveLength(EVENTS);
});

test('a journal that cannot be read is named; nothing is left, and the next task is carried out', async () => {
  const task = await fourJournals();
  const { runner } = await countingRunner();
  const writer = await writerWith(runner);
  const missing = join(temporaryFolder(), '000000000009.parquet');
  await expect(writer.run({ ...task, sources: [...task.sources, { path: missing }] }, async () => undefined)).rejects.toThrow(missing);
  expect(readdirSync(task.segmentsFolder)).toEqual([]);
  const { rows } = await writer.run(task, async () => undefined);
  expect(rows).toHaveLength(EVENTS);
});

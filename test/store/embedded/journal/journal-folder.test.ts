import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { EmptyJournalTable, hasEmptyJournals } from '../../../../store/embedded/journal/empty-journal-table.ts';
import { JournalFolder } from '../../../../store/embedded/journal/journal-folder.ts';
import { journalFileNames } from '../../../../store/embedded/segment/file-names.ts';
import type { EventBatch } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { event, eventSeries, NOW } from '../stored-events.ts';

const [EVENTS_1, LOGS_1] = ['000000000001.parquet', '000000000001.logs'];
const START = { journal: 1, sequence: 101n };

function journalFolder(path = temporaryFolder(), database = new DatabaseSync(':memory:')) {
  const folder = new JournalFolder(path, new EmptyJournalTable(database));
  return { folder, path, database, again: () => journalFolder(path, database) };
}

const TWO_EVENTS = canonicalBatch([event('a', NOW), event('b', NOW + 1)]);
const OFFSETS = { sourceOffsets: [{ topic: 'shield', partition: 3, nextOffset: 2n ** 62n, topicId: 'abc' }] };

/** A batch whose files are large enough to be kept for later journals. */
const LARGE = canonicalBatch(eventSeries('large-', 4, NOW, 1).map((one) => ({ ...one, log: { text: 'x'.repeat(400_000) } })));

describe('a journal is read as it was written', () => {
  const batches: readonly (readonly [string, EventBatch])[] = [
    ['with events', TWO_EVENTS],
    ['with source offsets, too', canonicalBatch([event('a', NOW)], { ...OFFSETS, expiredCount: 4 })],
    ['without events, but with source offsets', canonicalBatch([], OFFSETS)],
    ['with nothing but expired events', canonicalBatch([], { expiredCount: 5 })],
  ];
  test.each(batches)('%s', async (_what, batch) => {
    const { folder, again } = journalFolder();
    const written = await folder.write(START, batch, NOW);
    const { folder: later } = again();
    const read = await later.read(1);
    const { widestColumnBytes: atLeast = 0, ...rest } = read ?? {};
    const { widestColumnBytes, ...expected } = written;
    expect(rest).toEqual(expected);
    expect(atLeast).toBeGreaterThanOrEqual(batch.eventCount === 0 ? 0 : widestColumnBytes);
    expect({ ...written }).toMatchObject({ number: 1, firstSequence: 101n, eventCount: batch.eventCount, ingestedAtMs: NOW });
    expect({ ...written }).toMatchObject({ expiredCount: batch.expiredCount, sourceOffsets: batch.sourceOffsets });
    expect(await later.list()).toEqual([1]);
    expect((await later.readLogs(written)).equals(Buffer.concat(batch.logs))).toBe(true);
  });

  test('or not at all, where there is none', async () => {
    const { folder } = journalFolder();
    expect([await folder.read(1), await folder.list()]).toEqual([undefined, []]);
  });
});

test.each([
  ['a changed byte of its events', EVENTS_1, (bytes: Buffer) => bytes.fill(0xff, 20, 21), 2],
  ['events that are cut', EVENTS_1, (bytes: Buffer) => bytes.subarray(0, -1), 2],
  ['a changed byte of its logs', LOGS_1, (bytes: Buffer) => bytes.fill(0x20, 1, 2), 2],
  ['logs without their last byte', LOGS_1, (bytes: Buffer) => bytes.subarray(0, -1), 2],
  ['logs without their last line', LOGS_1, (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf(0x0a, -2) + 1), 2],
  ['a part of the first log only', LOGS_1, (bytes: Buffer) => bytes.subarray(0, 1), 0],
])('a journal with %s is torn', async (_what, name, damage, events) => {
  const { folder, path } = journalFolder();
  await folder.write(START, TWO_EVENTS, NOW);
  writeFileSync(join(path, name), damage(readFileSync(join(path, name))));
  expect([await folder.read(1), await folder.countDamaged(1)]).toEqual([undefined, events]);
});

test.each([EVENTS_1, LOGS_1])('a journal without its file %s is torn, and is still there', async (name) => {
  const { folder, path } = journalFolder();
  await folder.write(START, TWO_EVENTS, NOW);
  rmSync(join(path, name));
  expect([await folder.read(1), await folder.list(), await folder.countDamaged(1)]).toEqual([undefined, [1], name === LOGS_1 ? 0 : 2]);
});

test('a copy under another number is that journal, and nothing else of it is different', async () => {
  const { folder, path } = journalFolder();
  const written = await folder.write(START, TWO_EVENTS, NOW);
  await folder.copyAs(written, 7);
  const { sizeBytes, widestColumnBytes, ...rest } = written;
  expect(await folder.read(7)).toMatchObject({ ...rest, number: 7, path: folder.eventsPath(7) });
  expect(await folder.read(1)).toMatchObject(rest);
  truncateSync(join(path, LOGS_1), 3);
  await expect(folder.copyAs(written, 8)).rejects.toThrow('a journal that is not whole gets no other number');
});

describe('the files of a flushed journal', () => {
  test('are overwritten by the next ones, which are whole, however short they are', async () => {
    const { folder, path } = journalFolder();
    await folder.write(START, LARGE, NOW);
    await folder.retire([1]);
    expect(readdirSync(path)).toEqual(['recycled-1']);
    expect(await folder.list()).toEqual([]);
    const next = await folder.write({ journal: 2, sequence: 105n }, TWO_EVENTS, NOW);
    expect(readdirSync(path)).toEqual(journalFileNames(2).toSorted());
    expect(await folder.read(2)).toMatchObject({ firstSequence: 105n, sizeBytes: next.sizeBytes });
    await folder.retire([2]);
    expect(readdirSync(path)).toEqual([]);
  });

  test('are kept until nothing comes in any more, or until the next start', async () => {
    const { folder, path, again } = journalFolder();
    await folder.write(START, LARGE, NOW);
    await folder.retire([1]);
    await folder.removeRecycled();
    expect(readdirSync(path)).toEqual([]);
    await folder.write({ journal: 2, sequence: 105n }, LARGE, NOW);
    await folder.retire([2]);
    await again().folder.removeLeft();
    expect(readdirSync(path)).toEqual([]);
  });
});

describe('a journal whose events are all stored elsewhere', () => {
  test('keeps its number, its sequences and its counts without files, also after a restart', async () => {
    const { folder, path, again } = journalFolder();
    const written = await folder.write(START, TWO_EVENTS, NOW);
    const dropped = await folder.dropFiles(written);
    expect(readdirSync(path)).toEqual([]);
    const expected = { number: 1, firstSequence: 101n, eventCount: 2, expiredCount: 0, hasFiles: false, sizeBytes: 0, ingestedAtMs: NOW };
    expect(dropped).toMatchObject(expected);
    const { folder: later } = again();
    expect(await later.read(1)).toMatchObject(expected);
    expect([await later.list(), String(await later.readLogs(dropped))]).toEqual([[1], '\n\n']);
    await later.remove([1, 2]);
    expect([await later.list(), await again().folder.list()]).toEqual([[], []]);
  });

  test('loses files that a crash left of it at the next start', async () => {
    const { folder, path, again } = journalFolder();
    const written = await folder.write(START, TWO_EVENTS, NOW);
    const files = readdirSync(path).map((name) => [name, readFileSync(join(path, name))] as const);
    await folder.dropFiles(written);
    for (const [name, bytes] of files) writeFileSync(join(path, name), bytes);
    await again().folder.removeLeft();
    expect(readdirSync(path)).toEqual([]);
  });
});

test('a catalog has the table of empty journals once a store has made it', () => {
  const database = new DatabaseSync(':memory:');
  expect(hasEmptyJournals(database)).toBe(false);
  new EmptyJournalTable(database).add({ number: 1, firstSequence: 1n, eventCount: 0, expiredCount: 2, ingestedAtMs: NOW });
  expect([hasEmptyJournals(database), new EmptyJournalTable(database).get(1)?.expiredCount]).toEqual([true, 2]);
});

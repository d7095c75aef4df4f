import { expect, test } from 'vitest';
import { LogMemory, MemtableLogs } from '../../../../store/embedded/blob/memtable-logs.ts';
import type { Journal } from '../../../../store/embedded/journal/journal.ts';
import { GrowingTable } from '../../../../store/embedded/memtable/memtable.ts';

const MOST = 2 * 1024 * 1024;

const journal = (eventCount: number, widestColumnBytes: number): Journal => ({
  ...{ number: 1, path: '', firstSequence: 1n, eventCount, expiredCount: 0, sourceOffsets: [] },
  ...{ sizeBytes: widestColumnBytes, ingestedAtMs: 0, hasFiles: true, widestColumnBytes },
});

const add = (table: GrowingTable, events: number, bytes: number, loaded = events): void =>
  table.add(journal(events, bytes), loaded, undefined);

test('a table has room for a journal while its vector of 2,048 rows has at most 2 MiB of any column, and in the next one again', () => {
  const table = new GrowingTable('table', new MemtableLogs(new LogMemory()));
  expect([table.hasRoomFor(journal(1, MOST)), table.hasRoomFor(journal(1, MOST + 1))]).toEqual([true, false]);
  add(table, 2_000, MOST - 100);
  expect([table.hasRoomFor(journal(1, 100)), table.hasRoomFor(journal(1, 101))]).toEqual([true, false]);
  add(table, 47, 100);
  expect([table.hasRoomFor(journal(1, 0)), table.hasRoomFor(journal(1, 1))]).toEqual([true, false]);
  // Nothing of it was new.
  add(table, 5, 500, 0);
  expect(table.hasRoomFor(journal(1, 0))).toBe(true);
  add(table, 2, 0);
  expect(table.hasRoomFor(journal(1, MOST))).toBe(true);
  // Of the rows that go on into the next vector, all may have the bytes.
  add(table, 2_048, 1_000);
  expect([table.hasRoomFor(journal(1, MOST - 1_000)), table.hasRoomFor(journal(1, MOST - 999))]).toEqual([true, false]);
});

test('a table knows the times, the zones and the journals of its events, and how far they go', () => {
  const table = new GrowingTable('table', new MemtableLogs(new LogMemory()));
  const arrived = (zones: readonly number[], ...times: readonly number[]) => ({
    ...{ dedupKeys: new Float64Array(times.length), times: Float64Array.from(times), zones },
    ...{ minTimestamp: Math.min(...times), maxTimestamp: Math.max(...times) },
  });
  table.add(journal(2, 10), 2, arrived([7, 8], 500, 700));
  table.add({ ...journal(3, 20), number: 2, firstSequence: 3n, ingestedAtMs: 9 }, 1, arrived([8, 9], 600, 800, 400));
  // A journal without events moves source offsets only.
  table.add({ ...journal(0, 0), number: 3, firstSequence: 6n }, 0, undefined);
  expect([table.minTimestamp, table.maxTimestamp, [...table.zones], table.events]).toEqual([400, 800, [7, 8, 9], 3]);
  expect([table.lastSequence, table.journalBytes]).toEqual([5n, 30]);
  expect(table.journals).toEqual([
    { number: 1, firstSequence: 1n, atMs: 0, sizeBytes: 10 },
    { number: 2, firstSequence: 3n, atMs: 9, sizeBytes: 20 },
    { number: 3, firstSequence: 6n, atMs: 0, sizeBytes: 0 },
  ]);
});

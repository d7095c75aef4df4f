import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LOG_PIECE_BYTES, LogMemory, MemtableLogs } from '../../../../store/embedded/blob/memtable-logs.ts';
import { assertProperty } from '../../../random/assert-property.ts';

const chunkOf = (logs: readonly string[]) => Buffer.from(logs.map((log) => `${log}\n`).join(''));

const FIRST = 1_000n;

function textsIn(memtableLogs: MemtableLogs, count: number): (string | undefined)[] {
  return Array.from({ length: count }, (_, index) => memtableLogs.at(FIRST + BigInt(index))?.toString());
}

/** Lengths of logs, some of them about that of a piece of memory. */
const log = fc.oneof(
  { weight: 40, arbitrary: fc.string({ maxLength: 50 }).map((text) => text.replaceAll('\n', '')) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 200_000 }).map((more) => 'x'.repeat(LOG_PIECE_BYTES + more)) },
  { weight: 3, arbitrary: fc.nat({ max: 400_000 }).map((length) => 'y'.repeat(length)) },
);

test('every log is found by its sequence, however they come', () => {
  assertProperty(
    fc.property(fc.array(fc.array(fc.array(log, { maxLength: 12 }), { maxLength: 3 }), { maxLength: 5 }), (journals) => {
      const memtableLogs = new MemtableLogs(new LogMemory());
      let sequence = FIRST;
      for (const chunks of journals) {
        memtableLogs.append(sequence, chunks.map(chunkOf));
        sequence += BigInt(chunks.flat().length);
      }
      const logs = journals.flat(2);
      expect(textsIn(memtableLogs, logs.length)).toEqual(logs);
      expect(memtableLogs.at(FIRST - 1n)).toBeUndefined();
      expect(memtableLogs.at(sequence)).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

test('logs that are forgotten can be given again', () => {
  const memtableLogs = new MemtableLogs(new LogMemory());
  memtableLogs.append(FIRST, [chunkOf(['a', 'b'])]);
  memtableLogs.append(FIRST + 2n, [chunkOf(['wrong', 'wrong too'])]);
  memtableLogs.truncate(FIRST + 2n);
  expect(memtableLogs.at(FIRST + 2n)).toBeUndefined();
  memtableLogs.append(FIRST + 2n, [chunkOf(['c'])]);
  expect(textsIn(memtableLogs, 3)).toEqual(['a', 'b', 'c']);
  expect(memtableLogs.at(FIRST + 3n)).toBeUndefined();
});

test('memory is used again once the last table that the logs belong to is gone, and not before', () => {
  const memory = new LogMemory();
  const memtableLogs = new MemtableLogs(memory);
  memtableLogs.references.acquire();
  memtableLogs.append(FIRST, [chunkOf(['first'])]);
  const [piece] = memtableLogs.slices.pieces;
  memtableLogs.references.release();
  expect(memory.take(1).buffer).not.toBe(piece?.buffer);
  memtableLogs.references.release();
  expect(memtableLogs.at(FIRST)).toBeUndefined();
  expect(memory.take(1).buffer).toBe(piece?.buffer);
});

test('memory that is free can be given back', () => {
  const memory = new LogMemory();
  const piece = memory.take(1);
  memory.giveBack([piece]);
  memory.giveRoomBack();
  expect(memory.take(1).buffer).not.toBe(piece.buffer);
});

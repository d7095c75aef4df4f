import { COLUMN_COUNT } from './field-table';

/** The memory of the kernel: the input, and the columns that events are written to. */

/** A longer event is left to the scanner. */
export const LONGEST_EVENT: usize = 64 * 1024;
/** So is an event for which an id of more bytes was worked out. */
export const LONGEST_GIVEN_ID: usize = 1024;

/** So many bytes are looked at together. */
export const BLOCK: usize = 64;

/** Address for the bytes of an event. A block may reach past their end. */
export const input: usize = heap.alloc(LONGEST_EVENT + BLOCK);

/** Address for the id of an event that has none. */
export const givenId: usize = heap.alloc(LONGEST_GIVEN_ID);

/**
 * Room in a column: an event puts into each no more bytes than it has itself, with the id that was given for it. More room, emptied less
 * often, made nothing faster and the kernel slower to make.
 */
export const COLUMN_BYTES: usize = LONGEST_EVENT + LONGEST_GIVEN_ID;

/** Blocks are written past the end. An odd number of them keeps the columns from beginning in the same lines of the processor's cache. */
const SLACK: usize = 5 * BLOCK;
const memoryOfColumns: usize = heap.alloc((COLUMN_BYTES + SLACK) * COLUMN_COUNT);

/** Addresses of the ends of the columns, four bytes each, in the order of `field-table.ts`; at first, where each begins. */
export const ends: usize = heap.alloc(4 * COLUMN_COUNT);

for (let column: u32 = 0; column < COLUMN_COUNT; column++) {
  setEnd(column, memoryOfColumns + (COLUMN_BYTES + SLACK) * column);
}

export function endOf(column: u32): usize {
  return load<usize>(ends + 4 * column);
}

export function setEnd(column: u32, end: usize): void {
  store<usize>(ends + 4 * column, end);
}

export function append32(column: u32, value: u32): void {
  const at = endOf(column);
  store<u32>(at, value);
  setEnd(column, at + 4);
}

export function append64(column: u32, value: u64): void {
  const at = endOf(column);
  store<u64>(at, value);
  setEnd(column, at + 8);
}

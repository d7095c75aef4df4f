import { BLOCK, LONGEST_EVENT, LONGEST_GIVEN_ID } from './event-memory';

/** The columns, by their places in `BATCH_COLUMNS`. Behind them come the masks of the events and their logs. */
export const ZONE_ID: u32 = 0;
export const TIMESTAMP: u32 = 1;
export const ID_BYTES: u32 = 2;
export const ID_TEXT: u32 = 3;
export const FEATURE: u32 = 4;
export const RULE_ID: u32 = 5;
export const RULE_NAME: u32 = 6;
export const IP: u32 = 7;
export const JA4: u32 = 8;
export const UA: u32 = 9;
export const URL_HEAD: u32 = 10;
export const URL_TAIL: u32 = 11;
export const ASN: u32 = 12;
export const COUNTRY: u32 = 13;
export const ACTION: u32 = 14;
export const IP_HIGH: u32 = 15;
export const IP_LOW: u32 = 16;
export const MASKS: u32 = 17;
export const LOGS: u32 = 18;
const COLUMNS: u32 = 19;

/** The bit of a mask behind those of the columns: whether lower case may change the event's `ip` or the tail of its `url`. */
export const UNFOLDED_BIT: u32 = 17;

/**
 * What a column has room for: an event puts into each no more bytes than it has itself, with the id that was given for it. More room, emptied less often, made nothing faster but a kernel longer
 * to make.
 */
export const COLUMN_BYTES: usize = LONGEST_EVENT + LONGEST_GIVEN_ID;

/** Blocks are written past the end. An odd number of them, lest all columns begin in the same lines of the processor's cache. */
const SLACK: usize = 5 * BLOCK;
const memoryOfColumns: usize = heap.alloc((COLUMN_BYTES + SLACK) * COLUMNS);

/** Where each column ends, four bytes for each; at first, where it begins. */
export const ends: usize = memory.data(4 * 19, 4);

for (let column: u32 = 0; column < COLUMNS; column++) {
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

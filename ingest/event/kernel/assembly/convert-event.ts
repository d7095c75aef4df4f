import { BLOCK, COLUMN_BYTES, endOf, ends, givenId, input, LONGEST_EVENT, LONGEST_GIVEN_ID } from './columns';
import { members, readMembers } from './event-members';
import { LOG_ID, LOGS } from './field-table';
import { CARRIAGE_RETURN, sixteen } from './json-text';
import { packLog } from './pack-log';
import { findStrings } from './strings';
import { appendWithGivenId, appendWithOwnId } from './write-fields';

/** The exports of the kernel, which `event-kernel.ts` calls. */

/** Verdicts on an event. */
const NOT_TAKEN: i32 = 0;
const APPENDED: i32 = 1;
const NEEDS_ID: i32 = 2;
/** No line ends in the rest, or no record is left. */
const NO_MORE: i32 = 3;

const NEWLINES: usize = sixteen(0x0a);

/** A block may reach past the end of the lines, or of the records. */
const lines: usize = heap.alloc(LONGEST_EVENT + BLOCK);

/** Address of the end of the last event's log, after those that were appended. */
let logEnd: usize = 0;

/** Places of records, four bytes for each start and each end. */
const MOST_RECORDS: u32 = 512;
const recordStarts: usize = heap.alloc(4 * MOST_RECORDS);
const recordEnds: usize = heap.alloc(4 * MOST_RECORDS);

/** Events that the last call of `convertLines` or `convertRecords` has appended, and the address, or the record, where it stopped. */
let appended: u32 = 0;
let stopped: usize = 0;

export function longestEvent(): usize {
  return LONGEST_EVENT;
}

export function longestGivenId(): usize {
  return LONGEST_GIVEN_ID;
}

/** Address for the bytes of an event. */
export function inputAt(): usize {
  return input;
}

/** Address for the bytes of lines or records. There is room for as many as for an event. */
export function linesAt(): usize {
  return lines;
}

/** Address for the id of an event that has none. */
export function givenIdAt(): usize {
  return givenId;
}

/** Bytes of events, with the ids that were given for them, that fit in until the columns are emptied. */
export function roomForEvents(): usize {
  return COLUMN_BYTES;
}

/**
 * Address of the ends of the columns, four bytes each: those of `BATCH_COLUMNS`, then the masks, then the logs. Setting them back to their
 * first values empties the columns.
 */
export function endsAt(): usize {
  return ends;
}

/** Addresses of the last event's first byte and after its last, without the blanks around it. */
export function eventStart(): usize {
  return members.openAt;
}

export function eventEnd(): usize {
  return members.closeAt + 1;
}

export function mostRecords(): u32 {
  return MOST_RECORDS;
}

export function recordStartsAt(): usize {
  return recordStarts;
}

export function recordEndsAt(): usize {
  return recordEnds;
}

export function converted(): u32 {
  return appended;
}

export function stoppedAt(): usize {
  return stopped;
}

/** Appends the event of `length` bytes in the input. The verdict is that of {@link appendEvent}. */
export function convert(length: usize, earliestMs: f64, latestMs: f64): i32 {
  return appendEvent(input, input + length, earliestMs, latestMs);
}

/** Appends the event of which the last verdict was that it needs an id, with the one of `length` bytes at `givenIdAt`. */
export function appendWithId(length: usize): void {
  appendWithGivenId(logEnd, length);
}

/**
 * Appends the events between `at` and `end`, each on a line that ends with LF or CRLF. Stops before one that is not taken, after one that
 * needs an id, and where no line ends any more.
 */
export function convertLines(at: usize, end: usize, earliestMs: f64, latestMs: f64): i32 {
  appended = 0;
  while (true) {
    stopped = at;
    const newline = newlineFrom(at, end);
    if (newline === end) {
      return NO_MORE;
    }
    const verdict = appendInside(at, withoutReturn(at, newline), earliestMs, latestMs);
    if (verdict === NOT_TAKEN) {
      return verdict;
    }
    at = newline + 1;
    stopped = at;
    if (verdict === NEEDS_ID) {
      return verdict;
    }
    appended++;
  }
}

/**
 * Appends the events of the records from `from` to before `end`, whose places are `shift` less than their addresses. Stops before one that
 * is not taken, after one that needs an id, and at the end.
 */
export function convertRecords(from: u32, end: u32, shift: usize, earliestMs: f64, latestMs: f64): i32 {
  appended = 0;
  for (let record = from; record < end; record++) {
    stopped = record;
    const at = load<usize>(recordStarts + 4 * record) + shift;
    const verdict = appendInside(at, load<usize>(recordEnds + 4 * record) + shift, earliestMs, latestMs);
    if (verdict === NOT_TAKEN) {
      return verdict;
    }
    stopped = record + 1;
    if (verdict === NEEDS_ID) {
      return verdict;
    }
    appended++;
  }
  return NO_MORE;
}

/**
 * Appends the event between `at` and `end` to the columns; `earliestMs` and `latestMs` bound its time, Unix milliseconds, both included.
 * One that is not taken, and one that needs an id, leave the columns alone. Writes over the block after `end`.
 */
function appendEvent(at: usize, end: usize, earliestMs: f64, latestMs: f64): i32 {
  if (!findStrings(at, end) || !readMembers(at, end)) {
    return NOT_TAKEN;
  }
  if (members.timestampMs < earliestMs || members.timestampMs > latestMs) {
    return NOT_TAKEN;
  }
  logEnd = packLog(members.logStart, members.logEnd, endOf(LOGS));
  if (logEnd === 0) {
    return NOT_TAKEN;
  }
  if (!members.has(LOG_ID)) {
    return NEEDS_ID;
  }
  appendWithOwnId(logEnd);
  return APPENDED;
}

/** Appends one event, and restores the block after it, which belongs to the next one. */
function appendInside(at: usize, end: usize, earliestMs: f64, latestMs: f64): i32 {
  const a = v128.load(end);
  const b = v128.load(end, 16);
  const c = v128.load(end, 32);
  const d = v128.load(end, 48);
  const verdict = appendEvent(at, end, earliestMs, latestMs);
  v128.store(end, a);
  v128.store(end, b, 16);
  v128.store(end, c, 32);
  v128.store(end, d, 48);
  return verdict;
}

function withoutReturn(at: usize, newline: usize): usize {
  return newline > at && load<u8>(newline - 1) === CARRIAGE_RETURN ? newline - 1 : newline;
}

/** Address of the first newline from `at` on, or `end` where there is none. */
function newlineFrom(at: usize, end: usize): usize {
  const newline = v128.load(NEWLINES);
  for (; at < end; at += 16) {
    const found = i8x16.eq(v128.load(at), newline);
    if (v128.any_true(found)) {
      return min<usize>(at + <usize>ctz(i8x16.bitmask(found)), end);
    }
  }
  return end;
}

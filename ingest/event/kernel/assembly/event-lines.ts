import { appendEvent, NEEDS_ID, NOT_TAKEN } from './append-event';
import { BLOCK, LONGEST_EVENT } from './event-memory';
import { CARRIAGE_RETURN } from './json-bytes';
import { sixteen } from './sixteen';

const NEWLINES: usize = sixteen(0x0a);

/** Where lines are expected. A block may reach past their end. */
export const lines: usize = heap.alloc(LONGEST_EVENT + BLOCK);

/** No line ends any more in what is left. */
const NO_LINE: i32 = 3;

/** How many events the last call of `appendLines` has appended, and where it stopped. */
let appended: u32 = 0;
let stoppedAt: usize = 0;

export function appendedLines(): u32 {
  return appended;
}

export function stoppedAtLine(): usize {
  return stoppedAt;
}

/**
 * Appends the events that stand between `at` and `end`, each on a line that ends with LF or CRLF, until there is one that is not taken (before which it stops) or that needs an
 * id (behind which it stops), or no line ends any more.
 */
export function appendLines(at: usize, end: usize, earliestMs: f64, latestMs: f64): i32 {
  appended = 0;
  while (true) {
    stoppedAt = at;
    const newline = newlineFrom(at, end);
    if (newline === end) {
      return NO_LINE;
    }
    const verdict = appendLine(at, withoutReturn(at, newline), earliestMs, latestMs);
    if (verdict === NOT_TAKEN) {
      return verdict;
    }
    at = newline + 1;
    stoppedAt = at;
    if (verdict === NEEDS_ID) {
      return verdict;
    }
    appended++;
  }
}

/** Appends one event, and puts back what is written over behind it: it belongs to the next. */
function appendLine(at: usize, end: usize, earliestMs: f64, latestMs: f64): i32 {
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

/** The place of the first newline from `at` on, or `end` where there is none. */
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

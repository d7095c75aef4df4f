import { SHORTEST_PACKED_BYTES } from '../../query/packed-log.ts';
import type { LineBuffer } from './line-buffer.ts';

/** Finds the next index at or behind `at` at which a log repeats a value; infinity where there is none. `at` never decreases. */
type Occurrences = (at: number) => number;

const NOWHERE: Occurrences = () => Number.POSITIVE_INFINITY;

/**
 * Node finds a value of so many bytes at most, because even where it compares each byte of the log with all of them that is fast. Of a
 * longer one that would be slow.
 */
const SHORT_BYTES = 32;

/**
 * Writes `log`, JSON without a raw newline, packed and as one line (see `query/packed-log.ts`). `values` are those of the `PACKED_FIELDS`
 * as JSON texts without their quotes, null for one that is not there or has escapes. The time that it takes grows with the bytes alone,
 * whatever they are.
 */
export function packLog(log: Buffer, values: readonly (Buffer | null)[], logs: LineBuffer): void {
  const found = values.map((value) => occurrencesOf(value, log));
  let written = 0;
  for (;;) {
    let [field, first] = [-1, Number.POSITIVE_INFINITY];
    // No index is lower than that of what comes next.
    for (let each = 0; each < found.length && first > written; each++) {
      const index = found[each]!(written);
      if (index < first) [field, first] = [each, index];
    }
    if (field < 0) {
      break;
    }
    if (first > written) logs.copy(log, written, first);
    logs.writeByte(field + 1);
    written = first + values[field]!.length;
  }
  logs.copy(log, written, log.length);
  logs.endLine();
}

function occurrencesOf(value: Buffer | null, log: Buffer): Occurrences {
  if (value === null || value.length < SHORTEST_PACKED_BYTES) {
    return NOWHERE;
  }
  const first = log.indexOf(value.subarray(0, SHORT_BYTES));
  if (first < 0) {
    return NOWHERE;
  }
  return value.length <= SHORT_BYTES ? occurrencesOfShort(value, log, first) : occurrencesOfLong(value, log);
}

function occurrencesOfShort(value: Buffer, log: Buffer, first: number): Occurrences {
  let index = first;
  return (at) => {
    if (index < at) {
      const next = log.indexOf(value, at);
      index = next < 0 ? Number.POSITIVE_INFINITY : next;
    }
    return index;
  };
}

function occurrencesOfLong(value: Buffer, log: Buffer): Occurrences {
  const all = indicesOf(value, log);
  let index = nextOf(all);
  return (at) => {
    while (index < at) {
      index = nextOf(all);
    }
    return index;
  };
}

function nextOf(indices: Iterator<number, void>): number {
  const { value: index } = indices.next();
  return index ?? Number.POSITIVE_INFINITY;
}

/**
 * All indices of the value in the log, also those that overlap, by Knuth, Morris and Pratt: a search that begins anew after each takes the
 * square of the length for texts that repeat themselves.
 */
function* indicesOf(value: Buffer, log: Buffer): Iterator<number, void> {
  const head = value.subarray(0, SHORTEST_PACKED_BYTES);
  const borders = bordersOf(value);
  let matched = 0;
  for (let at = log.indexOf(head); at >= 0 && at < log.length; at = matched === 0 ? log.indexOf(head, at + 1) : at + 1) {
    while (matched > 0 && value[matched] !== log[at]) {
      matched = borders[matched]!;
    }
    if (value[matched] === log[at]) {
      matched++;
    }
    if (matched === value.length) {
      yield at + 1 - matched;
      matched = borders[matched]!;
    }
  }
}

/** For each number of bytes at the start of the value, the longest shorter start that they also end with. */
function bordersOf(value: Buffer): number[] {
  const borders = [0, 0];
  let matched = 0;
  for (let at = 1; at < value.length; at++) {
    while (matched > 0 && value[matched] !== value[at]) {
      matched = borders[matched]!;
    }
    if (value[matched] === value[at]) {
      matched++;
    }
    borders.push(matched);
  }
  return borders;
}

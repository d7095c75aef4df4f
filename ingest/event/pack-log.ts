import { SHORTEST_PACKED_BYTES } from '../../query/packed-log.ts';
import type { LineBuffer } from './line-buffer.ts';

/** Where a value stands in a log: all places, also those that overlap, and the one that comes next. */
interface Occurrences {
  readonly places: readonly number[];
  readonly length: number;
  next: number;
}

/**
 * Writes `log`, JSON without a raw newline, packed and as one line (see `query/packed-log.ts`). `values` are those of the `PACKED_FIELDS`
 * as JSON texts without their quotes, null for one that is not there or has escapes. The time that it takes grows with the bytes alone,
 * whatever they are.
 */
export function packLog(log: Buffer, values: readonly (Buffer | null)[], logs: LineBuffer): void {
  const found = values.map((value): Occurrences => {
    const counts = value !== null && value.length >= SHORTEST_PACKED_BYTES;
    return { places: counts ? placesOf(value, log) : [], length: value?.length ?? 0, next: 0 };
  });
  let written = 0;
  for (let field = nextField(found, 0); field >= 0; field = nextField(found, written)) {
    const { places, next, length } = found[field]!;
    logs.copy(log, written, places[next]!);
    logs.writeByte(field + 1);
    written = places[next]! + length;
  }
  logs.copy(log, written, log.length);
  logs.endLine();
}

/** The field whose value stands first from `at` on, of several in the same place the first field; -1 where there is none. */
function nextField(found: readonly Occurrences[], at: number): number {
  let first = -1;
  let firstPlace = Number.POSITIVE_INFINITY;
  for (const [field, occurrences] of found.entries()) {
    const { places } = occurrences;
    while (places[occurrences.next]! < at) {
      occurrences.next++;
    }
    const place = places[occurrences.next] ?? Number.POSITIVE_INFINITY;
    if (place < firstPlace) {
      [first, firstPlace] = [field, place];
    }
  }
  return first;
}

/**
 * By Knuth, Morris and Pratt: a search that begins anew behind each place takes the square of the length for texts that repeat themselves.
 */
function placesOf(value: Buffer, log: Buffer): number[] {
  const places: number[] = [];
  const head = value.subarray(0, SHORTEST_PACKED_BYTES);
  let at = log.indexOf(head);
  if (at < 0) {
    return places;
  }
  const borders = bordersOf(value);
  let matched = 0;
  while (at >= 0 && at < log.length) {
    while (matched > 0 && value[matched] !== log[at]) {
      matched = borders[matched]!;
    }
    if (value[matched] === log[at]) {
      matched++;
    }
    if (matched === value.length) {
      places.push(at + 1 - matched);
      matched = borders[matched]!;
    }
    at = matched === 0 ? log.indexOf(head, at + 1) : at + 1;
  }
  return places;
}

/** For each number of bytes at the start of the value, how many of them at most are also its end, but not all. */
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

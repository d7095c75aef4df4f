import { isUtf8 } from 'node:buffer';
import { BACKSLASH, isBlank, NEWLINE } from '../../query/json-bytes.ts';
import type { RecordValues } from '../event/event-kernel.ts';
import { codeUnit, UNICODE_ESCAPE } from '../event/json-skipper.ts';

/** What is wrong with an envelope, of which nothing is stored then. */
export interface EnvelopeFault {
  readonly kind: 'fault';
  /** The item at which it is, from 0; null where it is at none. */
  readonly index: number | null;
  /** Names the place, what is there, and what is allowed. */
  readonly reason: string;
  /** The number that the protocol has for such a fault, where it has one. */
  readonly code?: number;
  /** It unpacks to more than MOST_ENVELOPE_BYTES, or has more items than are allowed. */
  readonly isTooLarge?: true;
}

/** What the records of an envelope may have together, unpacked, in bytes. */
export const MOST_ENVELOPE_BYTES = 32 * 1024 * 1024;

/** The items of a bulk request, in their order. */
export interface BulkItems {
  /** The index of each action in `BULK_ACTIONS` of `ingest/doors/bulk.ts`. */
  readonly actions: Uint8Array<ArrayBuffer>;
  /** The number of each item's index in `names`. */
  readonly indices: Uint16Array<ArrayBuffer>;
  /** The names of indices; "" stands for that of the path. */
  readonly names: readonly string[];
}

/** What the number of an item's action takes in memory, with that of its index and what is wrong with it, about. */
const ITEM_BYTES = 16;

/** What items take in memory, with what is told of each, about. */
export function bulkItemBytes({ actions, names }: BulkItems): number {
  return names.reduce((sum, { length }) => sum + 2 * length, ITEM_BYTES * actions.length);
}

/** The records of an envelope, in their order. They may lie in the body that was given, which is no longer what it was then. */
export interface TakenApart {
  readonly kind: 'records';
  readonly records: RecordValues;
  /** Present where the envelope has items that are answered one by one. */
  readonly items?: BulkItems;
}

/** Takes an envelope apart: the bytes of a body, and a NUL, which is the last byte and not of the body. */
export type TakeApart = (body: Buffer) => TakenApart | EnvelopeFault;

/** More records than that in MOST_ENVELOPE_BYTES are too short to be events. */
export const MOST_RECORDS = 1_000_000;

/** Thrown for an envelope of more than MOST_RECORDS, or one that unpacks to more than MOST_ENVELOPE_BYTES. */
export class TooLargeEnvelope extends Error {
  override readonly name = 'TooLargeEnvelope';
  /** The first record that there is no room for, from 0. */
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/** Throws TooLargeEnvelope where a record, counted from 0, is one too many. */
export function requireRoomFor(index: number): void {
  if (index === MOST_RECORDS) throw new TooLargeEnvelope(index, `at most ${MOST_RECORDS} records are allowed in one request`);
}

/** What base64 stands for, with or without its padding; null where anything else is in it, which decodes to fewer bytes. */
export function decodedBase64(text: string): Buffer | null {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === Math.floor(((text.length - padding) * 3) / 4) ? bytes : null;
}

const SHOWN_BYTES = 20;

/** What stands at an index of a body of JSON where something else is due: its bytes as a JSON text, which shows control characters. */
export function foundAt(body: Buffer, at: number): string {
  const end = body.length - 1;
  if (at >= end) return 'the body ends in the middle of it';
  return `unexpected ${JSON.stringify(body.toString('utf8', at, Math.min(end, at + SHOWN_BYTES)))} at byte ${at}`;
}

/** Gathers the places of records that lie in the same bytes, one behind the other. */
export class RecordPlaces {
  readonly #bytes: Buffer;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Adds what is between the blanks of a range; false where there is nothing. Throws TooLargeEnvelope. */
  add(start: number, end: number): boolean {
    let [from, to] = [start, end];
    while (from < to && isBlank(this.#bytes[from])) from++;
    while (to > from && isBlank(this.#bytes[to - 1])) to--;
    if (from === to) return false;
    requireRoomFor(this.#starts.length);
    this.#starts.push(from);
    this.#ends.push(to);
    return true;
  }

  /** Adds the lines of a range, each of which is a record. Blank ones are passed over. */
  addLines(start: number, end: number): void {
    for (let at = start; at < end; ) {
      const newline = this.#bytes.indexOf(NEWLINE, at);
      const lineEnd = newline < 0 || newline > end ? end : newline;
      this.add(at, lineEnd);
      at = lineEnd + 1;
    }
  }

  /** Adds the text that a JSON string from `start` to `end`, its quotes included, stands for; false where that is blank. */
  addText(start: number, end: number, hasEscapes: boolean): boolean {
    return this.add(start + 1, hasEscapes ? unescaped(this.#bytes, start + 1, end - 1) : end - 1);
  }

  taken(): TakenApart {
    const [starts, ends] = [Int32Array.from(this.#starts), Int32Array.from(this.#ends)];
    return { kind: 'records', records: { bytes: this.#bytes, count: starts.length, starts, ends } };
  }
}

/** What the letters of short escapes stand for; the others stand for themselves. */
const SHORT_ESCAPES: ReadonlyMap<number | undefined, number> = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([letter, sign]) => [letter.charCodeAt(0), sign.charCodeAt(0)]),
);
/** Stands for half of a surrogate pair, which no UTF-8 has. */
const REPLACEMENT = 0xfffd;

/**
 * Writes what the escapes of a JSON string stand for over it, which is never shorter, and returns the index behind that. The string may
 * have bytes that are no UTF-8, which stay: who reads the record repairs them as those of any other.
 */
export function unescaped(bytes: Buffer, start: number, end: number): number {
  if (isUtf8(bytes.subarray(start, end))) {
    return start + bytes.write(JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string, start, end - start);
  }
  let to = start;
  for (let at = start; at < end; ) {
    const byte = bytes[at]!;
    if (byte !== BACKSLASH) {
      bytes[to++] = byte;
      at += 1;
    } else if (bytes[at + 1] !== UNICODE_ESCAPE) {
      bytes[to++] = SHORT_ESCAPES.get(bytes[at + 1]) ?? bytes[at + 1]!;
      at += 2;
    } else {
      const point = escapedPoint(bytes, at);
      to = writePoint(bytes, to, point);
      at += point > 0xffff ? 12 : 6;
    }
  }
  return to;
}

/** The code point of the escape of a code unit, or of a pair of them, that begins at a backslash. */
function escapedPoint(bytes: Uint8Array, at: number): number {
  const unit = codeUnit(bytes, at + 2);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  const isHigh = unit < 0xdc00 && bytes[at + 6] === BACKSLASH && bytes[at + 7] === UNICODE_ESCAPE;
  const low = isHigh ? codeUnit(bytes, at + 8) : -1;
  return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT;
}

/** Writes a code point as UTF-8, and returns the index behind it. A call of Node for each takes twenty times as long. */
function writePoint(bytes: Buffer, at: number, point: number): number {
  if (point < 0x80) {
    bytes[at] = point;
    return at + 1;
  }
  const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  bytes[at] = [0xc0, 0xe0, 0xf0][more - 1]! | (point >> (6 * more));
  for (let index = 1; index <= more; index++) bytes[at + index] = 0x80 | ((point >> (6 * (more - index))) & 0x3f);
  return at + more + 1;
}

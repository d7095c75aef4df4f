import type { TextField } from '../../../query/event-fields.ts';
import { PACKED_FIELDS } from '../../../query/packed-log.ts';

/** The UTF-8 of the value of the nth of the {@link PACKED_FIELDS} of an event; no bytes where it has none. */
export type PackedValue = (nth: number) => Uint8Array;

/** Where there is a mark in so many bytes, each is looked at: a native search costs as much as to look at some 60 bytes. */
const DENSE_BYTES = 64;

/** Fewer bytes are copied one by one, which takes less time than a native copy. */
const FEW_BYTES = 32;

/** A packed log (`query/packed-log.ts`), in which the marks are found: it knows how long it is unpacked before it is written. */
export class PackedLog {
  readonly #packed: Buffer;
  /** The ascending offsets of the marks. */
  readonly #marks: readonly number[];
  readonly #values: (Uint8Array | undefined)[] = PACKED_FIELDS.map(() => undefined);
  /** Bytes of the unpacked log. */
  readonly size: number;

  /** `read` is called at most once for each of the {@link PACKED_FIELDS}, and only where the log repeats its value. */
  constructor(packed: Buffer, read: PackedValue) {
    this.#packed = packed;
    this.#marks = marksIn(packed);
    let size = packed.length - this.#marks.length;
    for (const at of this.#marks) {
      const nth = (packed[at] as number) - 1;
      let value = this.#values[nth];
      if (value === undefined) {
        value = read(nth);
        this.#values[nth] = value;
      }
      size += value.length;
    }
    this.size = size;
  }

  /** Writes the unpacked log. There has to be room for it. */
  writeTo(target: Uint8Array, offset: number): void {
    let [from, to] = [0, offset];
    for (const at of this.#marks) {
      to = copy(this.#packed, from, at, target, to);
      const value = this.#values[(this.#packed[at] as number) - 1] as Uint8Array;
      to = copy(value, 0, value.length, target, to);
      from = at + 1;
    }
    copy(this.#packed, from, this.#packed.length, target, to);
  }
}

/** The log of an event with these fields, as it was before it was packed. */
export function unpackLog(packed: Buffer, fields: Readonly<Partial<Record<TextField, string>>>): Buffer {
  const log = new PackedLog(packed, (nth) => Buffer.from(fields[PACKED_FIELDS[nth] as TextField] ?? ''));
  const bytes = Buffer.allocUnsafe(log.size);
  log.writeTo(bytes, 0);
  return bytes;
}

/** The offsets of the marks, ascending: each is searched for by itself as long as they are few. */
function marksIn(packed: Buffer): number[] {
  const marks: number[] = [];
  const next = PACKED_FIELDS.map((_, nth) => offsetOf(packed, nth, 0));
  for (;;) {
    let first = 0;
    for (let nth = 1; nth < next.length; nth += 1) {
      if ((next[nth] as number) < (next[first] as number)) {
        first = nth;
      }
    }
    const at = next[first] as number;
    if (at === packed.length) {
      return marks;
    }
    marks.push(at);
    if (marks.length * DENSE_BYTES > at + DENSE_BYTES) {
      addMarksFrom(packed, at + 1, marks);
      return marks;
    }
    next[first] = offsetOf(packed, first, at + 1);
  }
}

/** The offset of the next mark of the nth field; the length where there is none. */
function offsetOf(packed: Buffer, nth: number, from: number): number {
  const at = packed.indexOf(nth + 1, from);
  return at < 0 ? packed.length : at;
}

function addMarksFrom(packed: Buffer, from: number, marks: number[]): void {
  for (let at = from; at < packed.length; at += 1) {
    const byte = packed[at] as number;
    if (byte <= PACKED_FIELDS.length && byte > 0) {
      marks.push(at);
    }
  }
}

/** Copies bytes, and returns the offset behind them. */
function copy(source: Uint8Array, from: number, end: number, target: Uint8Array, to: number): number {
  if (end - from >= FEW_BYTES) {
    target.set(source.subarray(from, end), to);
  } else {
    for (let at = from; at < end; at += 1) {
      target[to + at - from] = source[at] as number;
    }
  }
  return to + end - from;
}

import { BACKSLASH, QUOTE, SPACE } from '../../query/json-bytes.ts';
import { MOST_ENVELOPE_BYTES, requireRoomFor, type TakenApart, TooLargeEnvelope } from './envelope.ts';

const NEWLINE_BYTES = Uint8Array.of(0x0a);
/** How a byte stands in a JSON string that cannot stand there as it is. */
const ESCAPES: readonly (Uint8Array | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)) : undefined,
);

/**
 * Writes records as JSON, one behind the other, into memory that grows to MOST_ENVELOPE_BYTES. Throws TooLargeEnvelope where that is not
 * enough, and for more than MOST_RECORDS.
 */
export class RecordWriter {
  #memory: Buffer<ArrayBuffer>;
  #length = 0;
  /** Where each record ends; behind it is a newline. */
  readonly #ends: number[] = [];

  /** `likelyBytes` is how much is probably written. */
  constructor(likelyBytes: number) {
    // Never of the pool of Node, which what is handed to a thread would take along.
    this.#memory = Buffer.allocUnsafeSlow(Math.min(MOST_ENVELOPE_BYTES, Math.max(1024, likelyBytes)));
  }

  /** How many bytes there are: what is given to `cutTo`. */
  get length(): number {
    return this.#length;
  }

  /** How many records there are. */
  get count(): number {
    return this.#ends.length;
  }

  /** Takes back what was written behind a length. */
  cutTo(length: number): void {
    this.#length = length;
  }

  /** Puts bytes in the place of what was written from `from` to `to`. What stands behind that moves. */
  replace(from: number, to: number, bytes: Uint8Array): void {
    const behind = from + bytes.length;
    this.#makeRoom(Math.max(0, behind - to));
    this.#memory.copyWithin(behind, to, this.#length);
    this.#memory.set(bytes, from);
    this.#length += behind - to;
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#makeRoom(end - start);
    this.#memory.set(bytes.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** Writes a text of ASCII, such as a number or a bracket. */
  ascii(text: string): void {
    this.#makeRoom(text.length);
    for (let index = 0; index < text.length; index++) this.#memory[this.#length++] = text.charCodeAt(index);
  }

  /** Writes a text as a JSON string. Bytes of it that are no UTF-8 stay: who reads the record repairs them. */
  string(bytes: Uint8Array, start: number, end: number): void {
    this.ascii('"');
    let from = start;
    for (let at = start; at < end; at++) {
      const escaped = ESCAPES[bytes[at]!];
      if (escaped === undefined) continue;
      this.raw(bytes, from, at);
      this.raw(escaped);
      from = at + 1;
    }
    this.raw(bytes, from, end);
    this.ascii('"');
  }

  /** Writes bytes as a JSON string of base64. */
  base64(bytes: Buffer, start: number, end: number): void {
    // Before a text of that length is made.
    this.#makeRoom(Math.ceil((end - start) / 3) * 4 + 2);
    this.#length += this.#memory.write(`"${bytes.toString('base64', start, end)}"`, this.#length, 'latin1');
  }

  /** Ends a record: all that was written since the one before. */
  endRecord(): void {
    requireRoomFor(this.#ends.length);
    this.#ends.push(this.#length);
    this.raw(NEWLINE_BYTES);
  }

  taken(): TakenApart {
    const ends = Int32Array.from(this.#ends);
    const starts = ends.map((_, index) => (index === 0 ? 0 : ends[index - 1]! + 1));
    return { kind: 'records', records: { bytes: this.#memory.subarray(0, this.#length), count: ends.length, starts, ends } };
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#memory.length) return;
    if (needed > MOST_ENVELOPE_BYTES) {
      const reason = `more than ${MOST_ENVELOPE_BYTES} bytes as JSON, which are allowed, are in the records up to ${this.count}`;
      throw new TooLargeEnvelope(this.count, reason);
    }
    const grown = Buffer.allocUnsafeSlow(Math.min(MOST_ENVELOPE_BYTES, Math.max(needed, 2 * this.#memory.length)));
    grown.set(this.#memory.subarray(0, this.#length));
    this.#memory = grown;
  }
}

import { BATCH_COLUMNS, columnIndex, type FieldColumns, HAS_UPPERCASE_OR_NON_ASCII_BIT } from '../../query/batch-columns.ts';
import { QUESTION_MARK } from '../../query/json-bytes.ts';
import { nextChunkSize, type OwnChunks, ownChunks } from './chunk-pool.ts';

const ZONE_ID = columnIndex('shieldZoneId');
const TIMESTAMP = columnIndex('timestamp');
const ID_BYTES = columnIndex('logIdBytes');
const ID_TEXT = columnIndex('logIdText');
const IP = columnIndex('ip');
const URL_HEAD = columnIndex('urlHead');
const URL_TAIL = columnIndex('urlTail');
const IP_HIGH = columnIndex('ipHigh');
const IP_LOW = columnIndex('ipLow');

/**
 * Collects the fields of events column by column. The values of an event are written in any order, each at most once; then `endEvent` has
 * to follow. Texts are UTF-8.
 */
export class ColumnWriter {
  /** In the order of `BATCH_COLUMNS`. */
  readonly columns: readonly ColumnBytes[];
  readonly masks: ColumnBytes;
  /** The mask of the event under way. */
  #mask = 0;
  readonly #id = new Uint8Array(16);

  constructor(pool = ownChunks()) {
    this.columns = BATCH_COLUMNS.map(() => new ColumnBytes(pool));
    this.masks = new ColumnBytes(pool);
  }

  get byteLength(): number {
    return this.columns.reduce((sum, column) => sum + column.byteLength, this.masks.byteLength);
  }

  shieldZoneId(zoneId: number): void {
    this.#columnAt(ZONE_ID).uint32(zoneId);
  }

  /** Unix milliseconds. */
  timestamp(timestampMs: number): void {
    this.#columnAt(TIMESTAMP).int64(timestampMs);
  }

  logId(text: Uint8Array, start: number, end: number): void {
    const form = readLogId(text, start, end, this.#id);
    if (form === 'text') {
      this.#columnAt(ID_TEXT).copyText(text, start, end);
      return;
    }
    this.#columnAt(ID_BYTES).copyText(this.#id, 0, this.#id.length);
    if (form === 'uuid') {
      this.#columnAt(ID_TEXT).copyText(UUID_TEXT, 0, UUID_TEXT.length);
    }
  }

  /** A text that is stored in one column, by the column's index in `BATCH_COLUMNS`. */
  text(index: number, text: Uint8Array, start: number, end: number): void {
    this.#columnAt(index).copyText(text, start, end);
  }

  url(text: Uint8Array, start: number, end: number): void {
    let tailAt = start;
    while (tailAt < end && text[tailAt] !== QUESTION_MARK) {
      tailAt++;
    }
    tailAt = Math.min(tailAt + 1, end);
    this.#columnAt(URL_HEAD).copyText(text, start, tailAt);
    this.#columnAt(URL_TAIL).copyText(text, tailAt, end);
    this.#noteUppercaseOrNonAscii(text, tailAt, end);
  }

  ip(text: Uint8Array, start: number, end: number): void {
    this.#columnAt(IP).copyText(text, start, end);
    this.#noteUppercaseOrNonAscii(text, start, end);
  }

  /** The number of the event's `ip`, 64 bits in each half. */
  address(high: bigint, low: bigint): void {
    this.#columnAt(IP_HIGH).uint64(high);
    this.#columnAt(IP_LOW).uint64(low);
  }

  endEvent(): void {
    this.masks.uint32(this.#mask);
    this.#mask = 0;
  }

  /** Returns the fields so far and forgets them. */
  take(): FieldColumns {
    return { values: this.columns.map((column) => column.take()), masks: this.masks.take() };
  }

  #columnAt(index: number): ColumnBytes {
    this.#mask |= 1 << index;
    return this.columns[index]!;
  }

  #noteUppercaseOrNonAscii(text: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const byte = text[at]!;
      if (byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a)) {
        this.#mask |= 1 << HAS_UPPERCASE_OR_NON_ASCII_BIT;
        return;
      }
    }
  }
}

const WORD = 2 ** 32;
/** Fewer bytes are copied faster one by one. */
const MAX_SINGLE_BYTES = 64;

/**
 * The values of a column in consecutive chunks of memory, each filled to its end. A text may go on in the next chunk; a number
 * does not in a column of numbers, since the sizes of chunks are multiples of theirs.
 */
class ColumnBytes {
  readonly #pool: OwnChunks;
  #chunks: Uint8Array[] = [];
  #chunk = Buffer.alloc(0);
  #used = 0;
  #closedBytes = 0;

  constructor(pool: OwnChunks) {
    this.#pool = pool;
  }

  get byteLength(): number {
    return this.#closedBytes + this.#used;
  }

  /** Appends `source[start, end)`. */
  copy(source: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#used === this.#chunk.length) {
        this.#nextChunk(end - at);
      }
      const until = Math.min(end, at + this.#chunk.length - this.#used);
      if (until - at > MAX_SINGLE_BYTES) {
        this.#chunk.set(source.subarray(at, until), this.#used);
        this.#used += until - at;
        at = until;
      }
      const chunk = this.#chunk;
      let used = this.#used;
      while (at < until) {
        chunk[used++] = source[at++]!;
      }
      this.#used = used;
    }
  }

  /** A text after its length. */
  copyText(source: Uint8Array, start: number, end: number): void {
    this.uint32(end - start);
    this.copy(source, start, end);
  }

  /** An integer of 32 bits, unsigned or signed: a negative one is written as its complement to 2^32. */
  uint32(value: number): void {
    if (this.#used + 4 > this.#chunk.length) {
      this.copy(Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24), 0, 4);
      return;
    }
    const chunk = this.#chunk;
    chunk[this.#used++] = value;
    chunk[this.#used++] = value >>> 8;
    chunk[this.#used++] = value >>> 16;
    chunk[this.#used++] = value >>> 24;
  }

  /** A safe integer in 64 bits. */
  int64(value: number): void {
    this.uint32(value % WORD);
    this.uint32(Math.floor(value / WORD));
  }

  uint64(value: bigint): void {
    this.uint32(Number(value & 0xffff_ffffn));
    this.uint32(Number(value >> 32n));
  }

  /** Returns the chunks so far, each as long as what is in it, and empties the column. */
  take(): Uint8Array[] {
    const chunks = this.#chunks;
    if (this.#used > 0) {
      chunks.push(this.#chunk.subarray(0, this.#used));
    }
    this.#chunks = [];
    this.#chunk = Buffer.alloc(0);
    this.#used = 0;
    this.#closedBytes = 0;
    return chunks;
  }

  /** `bytes` is the number of bytes that follow at least. */
  #nextChunk(bytes: number): void {
    if (this.#used > 0) {
      this.#chunks.push(this.#chunk);
      this.#closedBytes += this.#used;
    }
    const usual = nextChunkSize(this.#chunk.length);
    this.#chunk = this.#pool.take(Math.max(usual, Math.min(bytes, nextChunkSize(Number.POSITIVE_INFINITY))));
    this.#used = 0;
  }
}

const HEX_DIGITS = 32;
const UUID_BYTES = 36;
/** The text of an id that is a UUID. */
const UUID_TEXT = Buffer.from('-');

const NO_DIGIT = 0xff;
const DIGIT_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const index = '0123456789abcdef'.indexOf(String.fromCharCode(byte));
  return index < 0 ? NO_DIGIT : index;
});
const DASH = 0x2d;
const DASH_OFFSETS = [8, 13, 18, 23];

type LogIdForm = 'digits' | 'uuid' | 'text';

/**
 * The form of the id in `text[start, end)`: 32 hexadecimal digits in lower case, a UUID in lower case, or any other text. Writes the 16
 * bytes of the digits of the first two to `bytes`.
 */
function readLogId(text: Uint8Array, start: number, end: number, bytes: Uint8Array): LogIdForm {
  const length = end - start;
  const isUuid = length === UUID_BYTES && DASH_OFFSETS.every((index) => text[start + index] === DASH);
  if (!isUuid && length !== HEX_DIGITS) {
    return 'text';
  }
  let at = start;
  for (let byte = 0; byte < bytes.length; byte++) {
    if (isUuid && DASH_OFFSETS.includes(at - start)) {
      at++;
    }
    const [high, low] = [DIGIT_VALUE[text[at]!]!, DIGIT_VALUE[text[at + 1]!]!];
    if ((high | low) > 0xf) {
      return 'text';
    }
    bytes[byte] = high * 16 + low;
    at += 2;
  }
  return isUuid ? 'uuid' : 'digits';
}

import { BATCH_COLUMNS, columnIndex, type FieldColumns, HAS_UPPERCASE_OR_NON_ASCII_BIT } from '../../query/batch-columns.ts';
import { ChunkPool } from './chunk-pool.ts';
import { ColumnBytes } from './column-bytes.ts';
import { readLogId, UUID_TEXT } from './log-id-form.ts';
import { QUESTION_MARK } from './scan/json-bytes.ts';

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
  readonly #pool: ChunkPool;
  /** By their places in `BATCH_COLUMNS`. */
  readonly columns: readonly ColumnBytes[];
  readonly masks: ColumnBytes;
  /** Of the event under way. */
  #mask = 0;
  readonly #id = new Uint8Array(16);

  constructor(pool = new ChunkPool()) {
    this.#pool = pool;
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

  /** A text field other than the two below, by its place in `BATCH_COLUMNS`. */
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

  /** The fields so far; there are none afterwards. */
  take(): FieldColumns {
    return { values: this.columns.map((column) => column.take()), masks: this.masks.take() };
  }

  /** Takes back the memory of fields that were taken and that nobody reads any more. */
  release({ values, masks }: FieldColumns): void {
    for (const chunk of [...values.flat(), ...masks]) {
      this.#pool.giveBack(chunk);
    }
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

import { BATCH_COLUMNS, type FieldColumns } from '../query/batch-columns.ts';
import { CHUNK_BYTES, ChunkPool } from './chunk-pool.ts';

const FIRST_CHUNK_BYTES = 1024;

/** Bytes in chunks of memory, one behind the other. */
export class ColumnBytes {
  readonly #pool: ChunkPool;
  #chunks: Uint8Array[] = [];
  #chunk = Buffer.alloc(0);
  #used = 0;
  #closedBytes = 0;

  constructor(pool: ChunkPool) {
    this.#pool = pool;
  }

  get byteLength(): number {
    return this.#closedBytes + this.#used;
  }

  /** Appends `source[start, end)`. */
  copy(source: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.#used += source.copy(this.#chunk, this.#used, start, end);
  }

  /** A text behind its length. */
  copyText(source: Buffer, start: number, end: number): void {
    this.uint32(end - start);
    this.copy(source, start, end);
  }

  uint32(value: number): void {
    this.#makeRoom(4);
    this.#used = this.#chunk.writeUInt32LE(value, this.#used);
  }

  int32(value: number): void {
    this.uint32(value >>> 0);
  }

  uint64(value: bigint): void {
    this.#makeRoom(8);
    this.#used = this.#chunk.writeBigUInt64LE(value, this.#used);
  }

  int64(value: bigint): void {
    this.uint64(BigInt.asUintN(64, value));
  }

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

  #makeRoom(bytes: number): void {
    if (this.#used + bytes <= this.#chunk.length) {
      return;
    }
    if (this.#used > 0) {
      this.#chunks.push(this.#chunk.subarray(0, this.#used));
      this.#closedBytes += this.#used;
    }
    this.#chunk = this.#newChunk(bytes);
    this.#used = 0;
  }

  #newChunk(atLeast: number): Buffer<ArrayBuffer> {
    const usual = Math.min(CHUNK_BYTES, Math.max(FIRST_CHUNK_BYTES, this.#chunk.length * 4));
    const used = usual === CHUNK_BYTES && atLeast <= CHUNK_BYTES ? this.#pool.take() : undefined;
    return used ?? Buffer.allocUnsafeSlow(Math.max(usual, atLeast));
  }
}

/** Collects the fields of events column by column. */
export class ColumnWriter {
  readonly #pool: ChunkPool;
  /** By their places in `BATCH_COLUMNS`. */
  readonly columns: readonly ColumnBytes[];
  readonly masks: ColumnBytes;

  constructor(pool = new ChunkPool()) {
    this.#pool = pool;
    this.columns = BATCH_COLUMNS.map(() => new ColumnBytes(pool));
    this.masks = new ColumnBytes(pool);
  }

  get byteLength(): number {
    return this.columns.reduce((sum, column) => sum + column.byteLength, this.masks.byteLength);
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
}

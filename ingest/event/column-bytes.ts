import { type ChunkPool, nextChunkSize } from './chunk-pool.ts';

const WORD = 2 ** 32;
/** Fewer bytes are copied faster one by one. */
const MAX_SINGLE_BYTES = 64;

/**
 * The values of a column in chunks of memory, one behind the other, each filled to its end; a text may go on in the next chunk. Numbers do
 * not where there is nothing else of another length, since the sizes of chunks are multiples of theirs.
 */
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

  /** A text behind its length. */
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

  /** The chunks so far, each as long as what is in it; there are none afterwards. */
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

  /** `bytes` are those that will follow for certain. */
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

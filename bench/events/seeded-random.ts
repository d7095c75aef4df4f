import { type Cipheriv, createCipheriv, createHash } from 'node:crypto';

const BLOCK_BYTES = 64 * 1024;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * Random numbers and text that are the same for the same seed: the key stream of AES-128 in counter mode, which is fast to make
 * and, unlike text cut from a pool, cannot be compressed.
 */
export class SeededRandom {
  readonly #cipher: Cipheriv;
  #block: Buffer;
  #used = 0;

  constructor(seed: number) {
    const key = createHash('sha256').update(`seed ${seed}`).digest().subarray(0, 16);
    this.#cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
    this.#block = this.#cipher.update(ZEROS);
  }

  uint32(): number {
    return this.#block.readUInt32LE(this.#take(4));
  }

  /** An integer from 0 to `limit` - 1; `limit` is far below 2^32, so that the bias does not matter. */
  below(limit: number): number {
    return this.uint32() % limit;
  }

  /** `byteCount` random bytes, a multiple of 3 and less than 64 KiB, as base64 text. */
  base64(byteCount: number): string {
    const start = this.#take(byteCount);
    return this.#block.toString('base64', start, start + byteCount);
  }

  hex(byteCount: number): string {
    const start = this.#take(byteCount);
    return this.#block.toString('hex', start, start + byteCount);
  }

  #take(byteCount: number): number {
    if (this.#used + byteCount > BLOCK_BYTES) {
      this.#block = this.#cipher.update(ZEROS);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += byteCount;
    return start;
  }
}

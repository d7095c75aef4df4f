import { type Cipheriv, createCipheriv, createHash } from 'node:crypto';

const BLOCK_BYTES = 64 * 1024;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * Random numbers and texts that are the same for the same seed. They are the key stream of AES-128 in counter mode, which is fast and,
 * unlike text cut from a pool, cannot be compressed.
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

  /** An integer from 0 to `limit` - 1. `limit` must be far below 2^32, so that the bias does not matter. */
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

const SLOTS = 1 << 18;

/** Picks from 0 to `size` - 1 by Zipf's law: the nth number is 1/n as likely as the first. A pick is one look-up in a table. */
export function skewedChoice(size: number): (random: SeededRandom) => number {
  let harmonic = 0;
  for (let rank = 1; rank <= size; rank += 1) {
    harmonic += 1 / rank;
  }
  const slots = new Uint32Array(SLOTS);
  let [rank, reached] = [1, 1 / harmonic];
  for (let slot = 0; slot < SLOTS; slot += 1) {
    while ((slot + 0.5) / SLOTS > reached && rank < size) {
      rank += 1;
      reached += 1 / (rank * harmonic);
    }
    slots[slot] = rank - 1;
  }
  return (random) => slots[random.uint32() & (SLOTS - 1)] ?? 0;
}

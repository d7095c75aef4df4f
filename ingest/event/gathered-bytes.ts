const LEAST_CAPACITY_BYTES = 1024;

/**
 * Bytes that come in pieces of any size, in memory of their own that grows to twice its size. Kept one by one, pieces of a byte would take
 * some hundred times what they hold, and joining them at the end twice as much as they are.
 */
export class GatheredBytes {
  #memory: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes of memory that there are once so many more bytes are added, of which there are at most `mostBytes` in all. */
  capacityWith(moreBytes: number, mostBytes: number): number {
    const needed = this.#length + moreBytes;
    if (needed <= this.#memory.length) return this.#memory.length;
    return Math.max(needed, Math.min(mostBytes, Math.max(2 * this.#memory.length, LEAST_CAPACITY_BYTES)));
  }

  /** Copies a piece behind what is there. */
  add(piece: Uint8Array, mostBytes: number): void {
    const capacity = this.capacityWith(piece.length, mostBytes);
    if (capacity > this.#memory.length) {
      // Never of the pool of Node, which what is handed to a thread would take along.
      const grown = Buffer.allocUnsafeSlow(capacity);
      grown.set(this.#memory.subarray(0, this.#length));
      this.#memory = grown;
    }
    this.#memory.set(piece, this.#length);
    this.#length += piece.length;
  }

  /** All bytes, without a copy, and nothing from here on. */
  take(): Buffer<ArrayBuffer> {
    const { buffer, byteOffset } = this.#memory;
    const whole = Buffer.from(buffer, byteOffset, this.#length);
    this.#memory = new Uint8Array(0);
    this.#length = 0;
    return whole;
  }
}

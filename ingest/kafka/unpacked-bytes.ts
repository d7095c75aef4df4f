/** A batch may unpack to so many bytes: 32 KB of zstd can be 1 GiB. */
export const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;
/** Memory of up to so many bytes is kept for the next batch. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** A batch unpacks to more than {@link MAX_UNPACKED_BYTES}. */
export class TooLong extends Error {}

/**
 * What a batch unpacks to, part by part, in memory that the next batch uses again: with new memory for each, page faults took more time
 * than unpacking.
 */
export class UnpackedBytes {
  #bytes = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** How many more bytes may be added. */
  get room(): number {
    return MAX_UNPACKED_BYTES - this.#length;
  }

  /** Adds a copy of a part. Throws TooLong. */
  add(part: Uint8Array): void {
    if (part.length > this.room) throw new TooLong();
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }

  /** What was added from `start` on, until something else is added. */
  from(start: number): Buffer {
    return this.#bytes.subarray(start, this.#length);
  }

  /** Forgets what was added, and returns it: it is there until something else is added. */
  take(): Buffer {
    const taken = this.from(0);
    this.clear();
    return taken;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }
}

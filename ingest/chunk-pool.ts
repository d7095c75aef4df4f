/** One MiB: large enough that a batch is few chunks. */
export const CHUNK_BYTES = 1024 * 1024;

/** Enough for the batches that are under way at one time. */
const MOST_KEPT = 64;

/**
 * Chunks of memory that are used again. V8 starts a collection of the whole heap for every 64 MB of buffers that come and go, which at
 * 100 MB/s took a twentieth of the processor.
 */
export class ChunkPool {
  readonly #free: ArrayBuffer[] = [];

  /** A chunk that was given back, or undefined. Its content is whatever was in it. */
  take(): Buffer<ArrayBuffer> | undefined {
    const memory = this.#free.pop();
    return memory === undefined ? undefined : Buffer.from(memory, 0, CHUNK_BYTES);
  }

  /** Takes memory back that nobody reads any more; what is not a whole chunk is left to the garbage collector. */
  giveBack({ buffer }: Uint8Array): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === CHUNK_BYTES && this.#free.length < MOST_KEPT) {
      this.#free.push(buffer);
    }
  }
}

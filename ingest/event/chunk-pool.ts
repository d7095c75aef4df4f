/** The sizes of chunks, in bytes: a batch of one event takes little memory, and one of many is few chunks. */
export const CHUNK_SIZES = [1, 4, 16, 64, 256, 1024].map((kib) => kib * 1024);

/** Enough for the batches that are under way at one time. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Chunks of memory that are used again. V8 starts a collection of the whole heap for every 64 MB of buffers that come and go, which at
 * 100 MB/s took a twentieth of the processor.
 */
export class ChunkPool {
  readonly #free = new Map<number, ArrayBuffer[]>(CHUNK_SIZES.map((size) => [size, []]));
  #keptBytes = 0;

  /**
   * A chunk of the smallest size that has room for so many bytes, or of just so many where none has. It has whatever was in it.
   */
  take(atLeast: number): Buffer<ArrayBuffer> {
    const size = CHUNK_SIZES.find((one) => one >= atLeast) ?? atLeast;
    const memory = this.#free.get(size)?.pop();
    if (memory === undefined) {
      return Buffer.allocUnsafeSlow(size);
    }
    this.#keptBytes -= size;
    return Buffer.from(memory, 0, size);
  }

  /**
   * Takes memory back that nobody reads any more. The garbage collector gets what has none of the sizes. What would be too much gives way,
   * the smallest first, but of the size that is given back only where no other is left: that is the one that is used now.
   */
  giveBack({ buffer }: Uint8Array): void {
    const free = this.#free.get(buffer.byteLength);
    if (free === undefined || !(buffer instanceof ArrayBuffer)) return;
    free.push(buffer);
    this.#keptBytes += buffer.byteLength;
    if (this.#keptBytes <= MAX_KEPT_BYTES) return;
    for (const chunks of [...this.#free.values()].filter((others) => others !== free).concat([free])) {
      while (chunks.length > 0 && this.#keptBytes > MAX_KEPT_BYTES) this.#keptBytes -= chunks.pop()!.byteLength;
    }
  }
}

/**
 * The size of the chunk after one of `size` bytes, 0 for the first: each is four times as large as the one before, up to the largest.
 */
export function nextChunkSize(size: number): number {
  return CHUNK_SIZES.find((one) => one > size) ?? CHUNK_SIZES.at(-1)!;
}

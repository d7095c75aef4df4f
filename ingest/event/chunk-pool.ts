const KIB = 1024;

/** The sizes of a thread's own chunks, in bytes: a batch of one event takes little memory, and one of many is few chunks. */
export const CHUNK_SIZES = [1, 4, 16, 64, 256, 1024].map((kib) => kib * KIB);
/** Enough for the batches that are under way at one time. */
export const MAX_KEPT_BYTES = 64 * KIB * KIB;

/** Two of the longest lines that may be events go into the largest chunk that threads share. */
export const LARGEST_SHARED_BYTES = 4096 * KIB;
/** Enough for what is under way at one time: four batches, each with a chunk for its records and one for what becomes of them. */
export const MAX_SHARED_BYTES = 8 * LARGEST_SHARED_BYTES;

/**
 * Chunks of memory that are used again. V8 starts a collection of the whole heap for every 64 MB of buffers that come and go, which at
 * 100 MB/s took a twentieth of the processor.
 */
export class ChunkPool<Memory extends ArrayBufferLike, Chunk> {
  readonly #free: ReadonlyMap<number, Memory[]>;
  readonly #sizes: readonly number[];
  readonly #maxKeptBytes: number;
  readonly #Memory: new (
    sizeBytes: number,
  ) => Memory;
  readonly #chunkOf: (memory: Memory) => Chunk;
  #keptBytes = 0;

  constructor(
    sizes: readonly number[],
    maxKeptBytes: number,
    Memory: new (sizeBytes: number) => Memory,
    chunkOf: (memory: Memory) => Chunk,
  ) {
    this.#free = new Map(sizes.map((size) => [size, []]));
    [this.#sizes, this.#maxKeptBytes, this.#Memory, this.#chunkOf] = [sizes, maxKeptBytes, Memory, chunkOf];
  }

  /** A chunk of the smallest size that has room for so many bytes, or of just so many where none has. It has whatever was in it. */
  take(atLeast: number): Chunk {
    const size = this.#sizes.find((one) => one >= atLeast) ?? atLeast;
    const memory = this.#free.get(size)?.pop();
    if (memory !== undefined) this.#keptBytes -= size;
    return this.#chunkOf(memory ?? new this.#Memory(size));
  }

  /**
   * Takes memory back that nobody reads or writes any more. The garbage collector gets what is none of these chunks. What would be too much
   * gives way, the smallest first, but of the size that is given back only where no other is left: that is the one that is used now.
   */
  giveBack({ buffer }: Uint8Array): void {
    const free = this.#free.get(buffer.byteLength);
    if (free === undefined || !(buffer instanceof this.#Memory)) return;
    free.push(buffer);
    this.#keptBytes += buffer.byteLength;
    if (this.#keptBytes <= this.#maxKeptBytes) return;
    for (const chunks of [...this.#free.values()].filter((others) => others !== free).concat([free])) {
      while (chunks.length > 0 && this.#keptBytes > this.#maxKeptBytes) this.#keptBytes -= chunks.pop()!.byteLength;
    }
  }
}

export type OwnChunks = ChunkPool<ArrayBuffer, Buffer<ArrayBuffer>>;

/** Chunks of one thread. */
export function ownChunks(): OwnChunks {
  return new ChunkPool(CHUNK_SIZES, MAX_KEPT_BYTES, ArrayBuffer, (memory) => Buffer.from(memory));
}

export type SharedChunks = ChunkPool<SharedArrayBuffer, Uint8Array>;

/**
 * Chunks that threads share. V8 takes a buffer that is transferred for a new one where it comes to. Shared ones it does not count, so that
 * nobody would collect those of many batches before the memory is full.
 */
export function sharedChunks(): SharedChunks {
  const sizes = [64 * KIB, 256 * KIB, 1024 * KIB, LARGEST_SHARED_BYTES];
  return new ChunkPool(sizes, MAX_SHARED_BYTES, SharedArrayBuffer, (memory) => new Uint8Array(memory));
}

/** The size of the chunk after one of `size` bytes, 0 for the first: each is four times as large as the one before, up to the largest. */
export function nextChunkSize(size: number): number {
  return CHUNK_SIZES.find((one) => one > size) ?? CHUNK_SIZES.at(-1)!;
}

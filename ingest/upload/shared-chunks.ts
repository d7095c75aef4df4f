/** Two of the longest lines that may be events go into the largest chunk. */
export const LARGEST_CHUNK_BYTES = 4096 * 1024;
/** The sizes of chunks, in bytes. */
const SIZES = [64 * 1024, 256 * 1024, 1024 * 1024, LARGEST_CHUNK_BYTES];
/** Enough for what is under way at one time: four batches, each with a chunk for its records and one for what becomes of them. */
export const MAX_SHARED_BYTES = 8 * LARGEST_CHUNK_BYTES;

/**
 * Chunks of memory that threads share, and that are used again. V8 takes a buffer that is transferred for a new one where it comes to, and
 * collects the whole heap for every 64 MB of them; shared ones are not counted. So none may be made for every batch, either: nobody would
 * collect them before the memory is full.
 */
export class SharedChunks {
  readonly #free = new Map<number, SharedArrayBuffer[]>(SIZES.map((size) => [size, []]));
  #keptBytes = 0;

  /** A chunk of the smallest size that has room for so many bytes, LARGEST_CHUNK_BYTES at most. It has whatever was in it. */
  take(atLeast: number): Uint8Array {
    const size = SIZES.find((one) => one >= atLeast);
    if (size === undefined) throw new RangeError(`a chunk of ${atLeast} bytes: at most ${LARGEST_CHUNK_BYTES} are allowed`);
    const memory = this.#free.get(size)?.pop();
    if (memory === undefined) return new Uint8Array(new SharedArrayBuffer(size));
    this.#keptBytes -= size;
    return new Uint8Array(memory);
  }

  /** Takes a chunk back that nobody reads or writes any more. The garbage collector gets other memory, and what would be too much. */
  giveBack({ buffer }: Uint8Array): void {
    const free = this.#free.get(buffer.byteLength);
    if (free === undefined || !(buffer instanceof SharedArrayBuffer)) return;
    free.push(buffer);
    this.#keptBytes += buffer.byteLength;
    // Those of the size that is asked for now are kept.
    for (const others of this.#free.values()) {
      while (others !== free && others.length > 0 && this.#keptBytes > MAX_SHARED_BYTES) this.#drop(others);
    }
    if (this.#keptBytes > MAX_SHARED_BYTES) this.#drop(free);
  }

  #drop(chunks: SharedArrayBuffer[]): void {
    this.#keptBytes -= chunks.pop()?.byteLength ?? 0;
  }
}

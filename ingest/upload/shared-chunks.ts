/** The sizes of chunks, in bytes. */
const SIZES = [64, 256, 1024].map((kib) => kib * 1024);
/** Enough for what is under way at one time. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * Chunks of memory that threads share, and that are used again. V8 takes a buffer that is transferred for a new one where it comes to, and
 * collects the whole heap for every 64 MB of them; shared ones are not counted.
 */
export class SharedChunks {
  readonly #free = new Map<number, SharedArrayBuffer[]>(SIZES.map((size) => [size, []]));
  #keptBytes = 0;

  /** A chunk of the smallest size that has room for so many bytes, or of just so many where none has. It has whatever was in it. */
  take(atLeast: number): Uint8Array {
    const size = SIZES.find((one) => one >= atLeast) ?? atLeast;
    const memory = this.#free.get(size)?.pop();
    if (memory === undefined) return new Uint8Array(new SharedArrayBuffer(size));
    this.#keptBytes -= size;
    return new Uint8Array(memory);
  }

  /** Takes a chunk back that nobody reads or writes any more. The garbage collector gets other memory, and what would be too much. */
  giveBack({ buffer }: Uint8Array): void {
    const free = this.#free.get(buffer.byteLength);
    if (free === undefined || !(buffer instanceof SharedArrayBuffer) || this.#keptBytes + buffer.byteLength > MAX_KEPT_BYTES) return;
    free.push(buffer);
    this.#keptBytes += buffer.byteLength;
  }
}

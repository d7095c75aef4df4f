import { NEWLINE } from '../../query/json-bytes.ts';
import { nextChunkSize, type OwnChunks, ownChunks } from './chunk-pool.ts';

/** Collects lines in chunks of memory; a line is never spread over two chunks. */
export class LineBuffer {
  readonly #pool: OwnChunks;
  #chunks: Uint8Array[] = [];
  #chunk = Buffer.alloc(0);
  #used = 0;
  #lineStart = 0;
  #closedBytes = 0;

  /** Takes chunks from the pool, which several may share. */
  constructor(pool = ownChunks()) {
    this.#pool = pool;
  }

  get byteLength(): number {
    return this.#closedBytes + this.#used;
  }

  /** Appends `source[start, end)` to the line under way. */
  copy(source: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.#used += source.copy(this.#chunk, this.#used, start, end);
  }

  write(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#used += this.#chunk.write(text, this.#used);
  }

  writeByte(byte: number): void {
    this.#makeRoom(1);
    this.#chunk[this.#used++] = byte;
  }

  endLine(): void {
    this.writeByte(NEWLINE);
    this.#lineStart = this.#used;
  }

  /** Appends the lines in `source[start, end)`, each with its newline, where none is under way. */
  appendLines(source: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      let fitting = this.#linesThatFit(source, at, end);
      if (fitting === at) {
        this.#makeRoom(end - at);
        fitting = end;
      }
      this.copy(source, at, fitting);
      this.#lineStart = this.#used;
      at = fitting;
    }
  }

  /** Returns the lines so far and empties the buffer. */
  take(): Uint8Array[] {
    const chunks = this.#chunks;
    if (this.#used > 0) {
      chunks.push(this.#chunk.subarray(0, this.#used));
    }
    this.#chunks = [];
    this.#chunk = Buffer.alloc(0);
    this.#used = 0;
    this.#lineStart = 0;
    this.#closedBytes = 0;
    return chunks;
  }

  /** The end of the last line that has room in the chunk, `at` where none has. */
  #linesThatFit(source: Buffer, at: number, end: number): number {
    const room = this.#chunk.length - this.#used;
    return end - at <= room ? end : Math.max(at, room === 0 ? 0 : source.lastIndexOf(NEWLINE, at + room - 1) + 1);
  }

  #makeRoom(bytes: number): void {
    if (this.#used + bytes <= this.#chunk.length) {
      return;
    }
    const line = this.#chunk.subarray(this.#lineStart, this.#used);
    // Room for twice as much keeps a long line from being copied again and again.
    const chunk = this.#pool.take(Math.max(nextChunkSize(this.#chunk.length), 2 * (line.length + bytes)));
    chunk.set(line);
    if (this.#lineStart > 0) {
      this.#chunks.push(this.#chunk.subarray(0, this.#lineStart));
      this.#closedBytes += this.#lineStart;
    }
    this.#chunk = chunk;
    this.#used = line.length;
    this.#lineStart = 0;
  }
}

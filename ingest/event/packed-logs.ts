import { NEWLINE } from '../../query/json-bytes.ts';
import { SHORTEST_PACKED_BYTES } from '../../query/packed-log.ts';
import { ChunkPool, nextChunkSize } from './chunk-pool.ts';

/** Collects lines in chunks of memory; a line is never spread over two chunks. */
export class LineBuffer {
  readonly #pool: ChunkPool;
  #chunks: Uint8Array[] = [];
  #chunk = Buffer.alloc(0);
  #used = 0;
  #lineStart = 0;
  #closedBytes = 0;

  /** Takes chunks from the pool, which several may share. */
  constructor(pool = new ChunkPool()) {
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

/** The indices at which a log repeats a value, also those that overlap, and which of them comes next. */
interface Occurrences {
  readonly indices: readonly number[];
  readonly length: number;
  next: number;
}

/**
 * Writes `log`, JSON without a raw newline, packed and as one line (see `query/packed-log.ts`). `values` are those of the `PACKED_FIELDS`
 * as JSON texts without their quotes, null for one that is not there or has escapes. The time that it takes grows with the bytes alone,
 * whatever they are.
 */
export function packLog(log: Buffer, values: readonly (Buffer | null)[], logs: LineBuffer): void {
  const found = values.map((value): Occurrences => {
    const counts = value !== null && value.length >= SHORTEST_PACKED_BYTES;
    return { indices: counts ? indicesOf(value, log) : [], length: value?.length ?? 0, next: 0 };
  });
  let written = 0;
  for (let field = nextField(found, 0); field >= 0; field = nextField(found, written)) {
    const { indices, next, length } = found[field]!;
    logs.copy(log, written, indices[next]!);
    logs.writeByte(field + 1);
    written = indices[next]! + length;
  }
  logs.copy(log, written, log.length);
  logs.endLine();
}

/** The field whose value comes first from `at` on, of several at the same index the first field; -1 where there is none. */
function nextField(found: readonly Occurrences[], at: number): number {
  let first = -1;
  let firstIndex = Number.POSITIVE_INFINITY;
  for (const [field, occurrences] of found.entries()) {
    const { indices } = occurrences;
    while (indices[occurrences.next]! < at) {
      occurrences.next++;
    }
    const index = indices[occurrences.next] ?? Number.POSITIVE_INFINITY;
    if (index < firstIndex) {
      [first, firstIndex] = [field, index];
    }
  }
  return first;
}

/**
 * All indices of the value in the log, by Knuth, Morris and Pratt: a search that begins anew after each takes the square of the length for
 * texts that repeat themselves.
 */
function indicesOf(value: Buffer, log: Buffer): number[] {
  const indices: number[] = [];
  const head = value.subarray(0, SHORTEST_PACKED_BYTES);
  let at = log.indexOf(head);
  if (at < 0) {
    return indices;
  }
  const borders = bordersOf(value);
  let matched = 0;
  while (at >= 0 && at < log.length) {
    while (matched > 0 && value[matched] !== log[at]) {
      matched = borders[matched]!;
    }
    if (value[matched] === log[at]) {
      matched++;
    }
    if (matched === value.length) {
      indices.push(at + 1 - matched);
      matched = borders[matched]!;
    }
    at = matched === 0 ? log.indexOf(head, at + 1) : at + 1;
  }
  return indices;
}

/** For each number of bytes at the start of the value, the longest shorter start that they also end with. */
function bordersOf(value: Buffer): number[] {
  const borders = [0, 0];
  let matched = 0;
  for (let at = 1; at < value.length; at++) {
    while (matched > 0 && value[matched] !== value[at]) {
      matched = borders[matched]!;
    }
    if (value[matched] === value[at]) {
      matched++;
    }
    borders.push(matched);
  }
  return borders;
}

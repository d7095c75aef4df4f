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

/** Finds the next index at or behind `at` at which a log repeats a value; infinity where there is none. `at` never decreases. */
type Occurrences = (at: number) => number;

const NOWHERE: Occurrences = () => Number.POSITIVE_INFINITY;

/**
 * Node finds a value of so many bytes at most, because even where it compares each byte of the log with all of them that is fast. Of a
 * longer one that would be slow.
 */
const SHORT_BYTES = 32;

/**
 * Writes `log`, JSON without a raw newline, packed and as one line (see `query/packed-log.ts`). `values` are those of the `PACKED_FIELDS`
 * as JSON texts without their quotes, null for one that is not there or has escapes. The time that it takes grows with the bytes alone,
 * whatever they are.
 */
export function packLog(log: Buffer, values: readonly (Buffer | null)[], logs: LineBuffer): void {
  const found = values.map((value) => occurrencesOf(value, log));
  let written = 0;
  for (;;) {
    let [field, first] = [-1, Number.POSITIVE_INFINITY];
    // No index is lower than that of what comes next.
    for (let each = 0; each < found.length && first > written; each++) {
      const index = found[each]!(written);
      if (index < first) [field, first] = [each, index];
    }
    if (field < 0) {
      break;
    }
    if (first > written) logs.copy(log, written, first);
    logs.writeByte(field + 1);
    written = first + values[field]!.length;
  }
  logs.copy(log, written, log.length);
  logs.endLine();
}

function occurrencesOf(value: Buffer | null, log: Buffer): Occurrences {
  if (value === null || value.length < SHORTEST_PACKED_BYTES) {
    return NOWHERE;
  }
  const first = log.indexOf(value.subarray(0, SHORT_BYTES));
  if (first < 0) {
    return NOWHERE;
  }
  return value.length <= SHORT_BYTES ? occurrencesOfShort(value, log, first) : occurrencesOfLong(value, log);
}

function occurrencesOfShort(value: Buffer, log: Buffer, first: number): Occurrences {
  let index = first;
  return (at) => {
    if (index < at) {
      const next = log.indexOf(value, at);
      index = next < 0 ? Number.POSITIVE_INFINITY : next;
    }
    return index;
  };
}

function occurrencesOfLong(value: Buffer, log: Buffer): Occurrences {
  const all = indicesOf(value, log);
  let index = nextOf(all);
  return (at) => {
    while (index < at) {
      index = nextOf(all);
    }
    return index;
  };
}

function nextOf(indices: Iterator<number, void>): number {
  const { value: index } = indices.next();
  return index ?? Number.POSITIVE_INFINITY;
}

/**
 * All indices of the value in the log, also those that overlap, by Knuth, Morris and Pratt: a search that begins anew after each takes the
 * square of the length for texts that repeat themselves.
 */
function* indicesOf(value: Buffer, log: Buffer): Iterator<number, void> {
  const head = value.subarray(0, SHORTEST_PACKED_BYTES);
  const borders = bordersOf(value);
  let matched = 0;
  for (let at = log.indexOf(head); at >= 0 && at < log.length; at = matched === 0 ? log.indexOf(head, at + 1) : at + 1) {
    while (matched > 0 && value[matched] !== log[at]) {
      matched = borders[matched]!;
    }
    if (value[matched] === log[at]) {
      matched++;
    }
    if (matched === value.length) {
      yield at + 1 - matched;
      matched = borders[matched]!;
    }
  }
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

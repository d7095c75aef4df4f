import { NEWLINE } from '../../../query/json-bytes.ts';
import { RefCounted } from '../runtime/ref-counted.ts';

/** Size of a piece of log memory. A longer log has a piece of its own. */
export const LOG_PIECE_BYTES = 1024 * 1024;

/** Maximum number of free pieces that are kept for the next logs. */
const MAX_FREE = 128;

/** A piece of memory that threads share. */
export type LogPiece = Buffer<SharedArrayBuffer>;

/** A pool of pieces of memory. Without it they would stay as garbage until something else makes the collector run. */
export class LogMemory {
  readonly #free: LogPiece[] = [];

  /** Returns a piece of at least `bytes`, with any content. */
  take(bytes: number): LogPiece {
    const used = bytes <= LOG_PIECE_BYTES ? this.#free.pop() : undefined;
    return used ?? Buffer.from(new SharedArrayBuffer(Math.max(bytes, LOG_PIECE_BYTES)));
  }

  /** Returns the free pieces to the system. */
  giveRoomBack(): void {
    this.#free.length = 0;
  }

  /** Takes pieces back that nobody reads any more. */
  giveBack(pieces: readonly LogPiece[]): void {
    for (const piece of pieces) {
      if (piece.length === LOG_PIECE_BYTES && this.#free.length < MAX_FREE) {
        this.#free.push(piece);
      }
    }
  }
}

const FIRST_LOGS = 1024;

/** Logs in memory, by their index. A thread can get it. */
export interface LogSlices {
  readonly pieces: readonly Uint8Array[];
  /** The index of the piece with the log. */
  readonly pieceOf: Uint32Array;
  /** The offset of the log in its piece. */
  readonly starts: Uint32Array;
  /** The offset of the end of the log, exclusive. */
  readonly ends: Uint32Array;
}

/**
 * The packed logs of a memtable in the order of their sequence, duplicate events included. They are not in the tables, because nothing is
 * searched in them.
 */
export class MemtableLogs {
  readonly #memory: LogMemory;
  /** Every growing segment with events of these logs is a user; the first one is the memtable's own table. */
  readonly references = new RefCounted(() => this.#giveBack());
  #pieces: LogPiece[] = [];
  /** Bytes used of the last piece. */
  #used = 0;
  #firstSequence = 0n;
  #count = 0;
  #pieceOf = new Uint32Array(FIRST_LOGS);
  #starts = new Uint32Array(FIRST_LOGS);
  #ends = new Uint32Array(FIRST_LOGS);

  constructor(memory: LogMemory) {
    this.#memory = memory;
  }

  /** The sequence of the first log; 0 while there is none. */
  get firstSequence(): bigint {
    return this.#firstSequence;
  }

  /** The memory that they take. */
  get bytes(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** Copies newline-terminated logs of events. `sequence` is that of the first one, and follows the last log. No log spans two chunks. */
  append(sequence: bigint, chunks: readonly Uint8Array[]): void {
    if (this.#count === 0) {
      this.#firstSequence = sequence;
    }
    for (const { buffer, byteOffset, byteLength } of chunks) {
      this.#copy(Buffer.from(buffer, byteOffset, byteLength));
    }
  }

  /** Removes the logs from `sequence` on. */
  truncate(sequence: bigint): void {
    this.#count = this.#indexOf(sequence);
  }

  /** The packed log of an event; undefined where it is not here. Its bytes stay unchanged until the last part of the memtable is gone. */
  at(sequence: bigint): Buffer | undefined {
    const index = this.#indexOf(sequence);
    return index >= 0 && index < this.#count
      ? this.#pieces[this.#pieceOf[index] as number]?.subarray(this.#starts[index], this.#ends[index])
      : undefined;
  }

  get slices(): LogSlices {
    return {
      pieces: this.#pieces,
      pieceOf: this.#pieceOf.slice(0, this.#count),
      starts: this.#starts.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
    };
  }

  #giveBack(): void {
    this.#memory.giveBack(this.#pieces);
    this.#pieces = [];
    this.#count = 0;
  }

  #indexOf(sequence: bigint): number {
    return Number(sequence - this.#firstSequence);
  }

  /** Copies whole logs, as many at a time as fit into a piece. */
  #copy(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      let piece = this.#pieces.at(-1);
      let end = piece === undefined ? at : endOfLogs(chunk, at, piece.length - this.#used);
      if (piece === undefined || end === at) {
        piece = this.#memory.take(Math.max(chunk.indexOf(NEWLINE, at) + 1 - at, LOG_PIECE_BYTES));
        this.#pieces.push(piece);
        this.#used = 0;
        end = endOfLogs(chunk, at, piece.length);
      }
      chunk.copy(piece, this.#used, at, end);
      this.#note(piece, this.#used, this.#used + end - at);
      this.#used += end - at;
      at = end;
    }
  }

  #note(piece: Buffer, from: number, to: number): void {
    const pieceIndex = this.#pieces.length - 1;
    for (let at = from; at < to; ) {
      const end = piece.indexOf(NEWLINE, at);
      if (this.#count === this.#starts.length) {
        this.#grow();
      }
      this.#pieceOf[this.#count] = pieceIndex;
      this.#starts[this.#count] = at;
      this.#ends[this.#count] = end;
      this.#count += 1;
      at = end + 1;
    }
  }

  #grow(): void {
    const larger = (numbers: Uint32Array) => {
      const more = new Uint32Array(numbers.length * 2);
      more.set(numbers);
      return more;
    };
    this.#pieceOf = larger(this.#pieceOf);
    this.#starts = larger(this.#starts);
    this.#ends = larger(this.#ends);
  }
}

/** The end of the whole logs of a chunk from `at` on that fit into `room` bytes; `at` where the first one does not. */
function endOfLogs(chunk: Buffer, at: number, room: number): number {
  if (chunk.length - at <= room) {
    return chunk.length;
  }
  return room === 0 ? at : Math.max(at, chunk.lastIndexOf(NEWLINE, at + room - 1) + 1);
}

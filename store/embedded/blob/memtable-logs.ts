import { StoreError } from '../../store-error.ts';
import { LOG_PIECE_BYTES, type LogMemory, type LogPiece } from './log-memory.ts';

const NEWLINE = 0x0a;
const FIRST_LOGS = 1024;

/** Logs in memory, and where each of them is. It can be handed to a thread. */
export interface LogSlices {
  readonly pieces: readonly Uint8Array[];
  /** The piece that a log lies in. */
  readonly pieceOf: Uint32Array;
  /** Where in it. */
  readonly starts: Uint32Array;
  /** Behind it. */
  readonly ends: Uint32Array;
}

/**
 * The packed logs of the events of a memtable, in the order of their sequence, each event's or that of one which was left out. They are
 * kept beside the tables, because nothing is searched in them.
 */
export class MemtableLogs {
  readonly #memory: LogMemory;
  #pieces: LogPiece[] = [];
  /** Of the last piece. */
  #used = 0;
  #firstSequence = 0n;
  #count = 0;
  #pieceOf = new Uint32Array(FIRST_LOGS);
  #starts = new Uint32Array(FIRST_LOGS);
  #ends = new Uint32Array(FIRST_LOGS);
  #references = 0;

  constructor(memory: LogMemory) {
    this.#memory = memory;
  }

  /** The sequence of the first one; 0 while there is none. */
  get firstSequence(): bigint {
    return this.#firstSequence;
  }

  /**
   * Takes over the newline-terminated logs of events from `sequence` on, which follows upon the last one. A log is in one of the chunks.
   */
  append(sequence: bigint, chunks: readonly Uint8Array[]): void {
    if (this.#count === 0) {
      this.#firstSequence = sequence;
    }
    for (const { buffer, byteOffset, byteLength } of chunks) {
      this.#copy(Buffer.from(buffer, byteOffset, byteLength));
    }
  }

  /** Forgets the logs from `sequence` on, which shall be given again. */
  truncate(sequence: bigint): void {
    this.#count = this.#indexOf(sequence);
  }

  has(sequence: bigint): boolean {
    return sequence >= this.#firstSequence && this.#indexOf(sequence) < this.#count;
  }

  /** The packed log of an event, as bytes that stay as they are for as long as a table that they belong to is there. */
  at(sequence: bigint): Buffer {
    const index = this.#indexOf(sequence);
    const piece = this.#pieces[this.#pieceOf[index] as number];
    if (!this.has(sequence) || piece === undefined) {
      throw new StoreError('corrupt', `there is no log of the event ${sequence} in memory`);
    }
    return piece.subarray(this.#starts[index], this.#ends[index]);
  }

  get slices(): LogSlices {
    return {
      pieces: this.#pieces,
      pieceOf: this.#pieceOf.slice(0, this.#count),
      starts: this.#starts.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
    };
  }

  /** A table that the logs belong to is there now. */
  acquire(): void {
    this.#references += 1;
  }

  /** It is not any more. With the last one the memory is free for others. */
  release(): void {
    this.#references -= 1;
    if (this.#references === 0) {
      this.#memory.giveBack(this.#pieces);
      this.#pieces = [];
      this.#count = 0;
    }
  }

  #indexOf(sequence: bigint): number {
    return Number(sequence - this.#firstSequence);
  }

  /** Whole logs, as many at a time as fit into a piece. */
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
    const place = this.#pieces.length - 1;
    for (let at = from; at < to; ) {
      const end = piece.indexOf(NEWLINE, at);
      if (this.#count === this.#starts.length) {
        this.#grow();
      }
      this.#pieceOf[this.#count] = place;
      this.#starts[this.#count] = at;
      this.#ends[this.#count] = end;
      this.#count += 1;
      at = end + 1;
    }
  }

  #grow(): void {
    const larger = (places: Uint32Array) => {
      const more = new Uint32Array(places.length * 2);
      more.set(places);
      return more;
    };
    this.#pieceOf = larger(this.#pieceOf);
    this.#starts = larger(this.#starts);
    this.#ends = larger(this.#ends);
  }
}

/** Behind the whole logs of a chunk from `at` on that have no more bytes than `room`; `at` where not even the first has. */
function endOfLogs(chunk: Buffer, at: number, room: number): number {
  if (chunk.length - at <= room) {
    return chunk.length;
  }
  return room === 0 ? at : Math.max(at, chunk.lastIndexOf(NEWLINE, at + room - 1) + 1);
}

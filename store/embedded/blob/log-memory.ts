/** A log that is longer has a piece of its own. */
export const LOG_PIECE_BYTES = 1024 * 1024;

/** So many free pieces are kept for the logs that come next. */
const MAX_FREE = 128;

/** A piece of memory that threads can read. */
export type LogPiece = Buffer<SharedArrayBuffer>;

/** Pieces of memory that are used again: as garbage they would stay for as long as nothing else makes the collector run. */
export class LogMemory {
  readonly #free: LogPiece[] = [];

  /** At least so many bytes. Its content is whatever was in it. */
  take(bytes: number): LogPiece {
    const used = bytes <= LOG_PIECE_BYTES ? this.#free.pop() : undefined;
    return used ?? Buffer.from(new SharedArrayBuffer(Math.max(bytes, LOG_PIECE_BYTES)));
  }

  /** Gives what is free back to the system. */
  giveRoomBack(): void {
    this.#free.length = 0;
  }

  /** Takes back what nobody reads any more. */
  giveBack(pieces: readonly LogPiece[]): void {
    for (const piece of pieces) {
      if (piece.length === LOG_PIECE_BYTES && this.#free.length < MAX_FREE) {
        this.#free.push(piece);
      }
    }
  }
}

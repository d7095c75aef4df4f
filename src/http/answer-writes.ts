import { setImmediate as nextTurn } from 'node:timers/promises';
import { MainThreadTurns } from '../../work/main-thread-turns.ts';

/** A part of an answer: a text, or bytes as they are sent. An empty one stands for work, behind which others may have their turn. */
export type AnswerPart = string | Uint8Array;

/** An answer piece by piece. The parts of a piece are made while they are written; the next piece is asked for afterwards. */
export type AnswerPieces = AsyncIterable<Iterable<AnswerPart>>;

/** The most bytes of a write. A turn of the event loop ends after each. */
export const WRITE_BYTES = 64 * 1024;

const MAX_BYTES_PER_UNIT = 3;

/** The bytes of the parts, one after the other. */
export function joinParts(parts: Iterable<AnswerPart>): Buffer {
  return Buffer.concat(Array.from(parts, (part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

/** An answer that is made already. */
export async function* onePiece(parts: Iterable<AnswerPart>): AsyncGenerator<Iterable<AnswerPart>, void, void> {
  yield parts;
}

/**
 * Collects an answer into writes: yields all but the last, which it returns, so that an answer of one write is known to be whole. Other
 * work has its turn after each write, and after some milliseconds. Where the next piece is not there yet, what is collected is written.
 */
export async function* answerWrites(pieces: AnswerPieces, turns = new MainThreadTurns()): AsyncGenerator<Buffer, Buffer, void> {
  const collected = new CollectedParts();
  const left = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = left.next();
      if (collected.used > 0 && !(await isThereInTime(next))) yield collected.take();
      const piece = await next;
      if (piece.done === true) return collected.take();
      let work = await turns.begin();
      try {
        for (const part of piece.value) {
          for (let rest = collected.add(part); rest !== undefined; rest = collected.add(rest)) {
            work.end();
            yield collected.take();
            work = await turns.beginAnother();
          }
          if (work.isLong()) {
            work.end();
            work = await turns.begin();
          }
        }
      } finally {
        work.end();
      }
    }
  } finally {
    await left.return?.();
  }
}

/** Whether the promise settles before the next turn of the event loop. */
function isThereInTime(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    nextTurn(false),
  ]);
}

/** Parts that make up the next write. */
class CollectedParts {
  #write: Buffer = NOTHING;
  used = 0;

  /** Takes as much of a part as there is room for. Returns the rest of it, which is to be added once the write was taken. */
  add(part: AnswerPart): AnswerPart | undefined {
    if (part.length === 0) return undefined;
    if (this.used === 0) this.#write = Buffer.allocUnsafeSlow(WRITE_BYTES);
    const room = WRITE_BYTES - this.used;
    if (typeof part === 'string' && part.length * MAX_BYTES_PER_UNIT <= room) {
      this.used += this.#write.write(part, this.used);
      return undefined;
    }
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    const fitting = bytes.length <= room ? bytes : bytes.subarray(0, room);
    this.#write.set(fitting, this.used);
    this.used += fitting.length;
    return bytes.length > room ? bytes.subarray(room) : undefined;
  }

  take(): Buffer {
    const write = this.#write.subarray(0, this.used);
    this.#write = NOTHING;
    this.used = 0;
    return write;
  }
}

const NOTHING = Buffer.alloc(0);

import { abortable } from '../../work/abortable.ts';
import { RequestProblem } from './problem.ts';

/** Smaller parts are always let through, so that callers who leave large answers unread do not block usual searches. */
const SMALL_BYTES = 256 * 1024;

/** Before another piece is read there is room for the largest that a store gives. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Something of an answer that is in memory at once. */
export interface HeldPart {
  /** What it takes in memory, about. */
  readonly bytes: number;
  /** Whether nothing more is read after it. */
  readonly isLast: boolean;
}

/** Counts parts of an answer as {@link AnswerMemory.hold} does. */
export type Hold = <T extends HeldPart>(parts: AsyncIterable<T> | Iterable<T>) => AsyncIterable<T>;

/** Limits the memory of what is read of answers, until it is written to their callers. */
export class AnswerMemory {
  readonly #capacityBytes: number;
  /** Readers of pieces that wait for room, the first one first. */
  readonly #waiting = new Set<() => void>();
  #takenBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /**
   * Passes the parts on, and counts each until the next one is asked for. Throws RequestProblem `store.busy` where the first is large and
   * does not fit beside those of others. A later one is not read before there is room: that rejects with the signal's reason. What is alone
   * always fits, since it could never be given otherwise.
   */
  async *hold<T extends HeldPart>(parts: AsyncIterable<T> | Iterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
    let isFirst = true;
    for await (const part of this.#inRoom(parts, signal)) {
      if (isFirst && part.bytes > SMALL_BYTES && !this.#hasRoomFor(part.bytes)) {
        const detail =
          'Too many large answers are on their way to callers who have not taken them; try again later, or ask for smaller pages';
        throw new RequestProblem('store.busy', detail, { headers: { 'retry-after': '5' } });
      }
      isFirst = false;
      this.#takenBytes += part.bytes;
      try {
        yield part;
      } finally {
        this.#takenBytes -= part.bytes;
        this.#wake();
      }
    }
  }

  /** The parts, of which each behind the first is asked for when there is room. */
  async *#inRoom<T extends HeldPart>(parts: AsyncIterable<T> | Iterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
    for await (const part of parts) {
      yield part;
      if (!(part.isLast || this.#hasRoomFor(PIECE_BYTES))) await this.#room(signal);
    }
  }

  #hasRoomFor(bytes: number): boolean {
    return this.#takenBytes === 0 || this.#takenBytes + bytes <= this.#capacityBytes;
  }

  async #room(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await abortable(promise, signal);
    } finally {
      this.#waiting.delete(resolve);
    }
  }

  /** Lets as many go on as there is room for. */
  #wake(): void {
    let free = this.#takenBytes === 0 ? Number.POSITIVE_INFINITY : this.#capacityBytes - this.#takenBytes;
    for (const goOn of this.#waiting) {
      if (free < PIECE_BYTES) return;
      this.#waiting.delete(goOn);
      goOn();
      free = Math.min(free, this.#capacityBytes) - PIECE_BYTES;
    }
  }
}

import type { ServerResponse } from 'node:http';
import { CALLER_IDLE_MS } from '../../edge/idle-caller.ts';
import { RequestProblem } from './problem.ts';

/** Smaller answers are always let through, so that callers who leave large ones unread do not block usual searches. */
const SMALL_BYTES = 256 * 1024;

/** The memory for whole answers that their callers have not taken yet: an eighth of MEMORY_LIMIT_MB, in bytes. */
export function answerMemoryBytes(memoryLimitMb: number): number {
  return (memoryLimitMb / 8) * 1024 * 1024;
}

/** Limits the memory of answers that are made whole before their first byte, until their callers have taken them. */
export class AnswerMemory {
  readonly #capacityBytes: number;
  /** A caller may take nothing for so long. */
  readonly idleMs: number;
  #takenBytes = 0;

  constructor(capacityBytes: number, idleMs = CALLER_IDLE_MS) {
    this.#capacityBytes = capacityBytes;
    this.idleMs = idleMs;
  }

  /**
   * Counts the bytes until the response is closed. Throws RequestProblem `store.busy` where a large answer does not fit beside the others.
   * One that is alone always fits, since it could never be given otherwise.
   */
  hold(response: ServerResponse, bytes: number): void {
    if (bytes > SMALL_BYTES && this.#takenBytes > 0 && this.#takenBytes + bytes > this.#capacityBytes) {
      const detail =
        'Too many large answers are on their way to callers who have not taken them; try again later, or ask for smaller pages';
      throw new RequestProblem('store.busy', detail, { headers: { 'retry-after': '5' } });
    }
    // A closed response emits no more events.
    if (response.closed) return;
    this.#takenBytes += bytes;
    response.once('close', () => {
      this.#takenBytes -= bytes;
    });
  }
}

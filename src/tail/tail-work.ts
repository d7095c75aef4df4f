import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { SerialQueue } from '../../store/serial-queue.ts';

/** What matching may cost, in characters that are looked through; one takes some nanoseconds at worst. */
export const TAIL_WORK = {
  /** An event that may cost a tail more is left out for it. */
  perEvent: 1024 * 1024,
  /** All tails together, in a second; each has an equal part. */
  perSecond: 64 * 1024 * 1024,
  /** A tail that was idle may use what so many seconds give. */
  burstSeconds: 2,
  /** A filter may look through each column of an event so often. */
  looks: 100,
} as const;

/** So long matching may hold the main thread at a time. */
const SLICE_MS = 8;

/** What one tail may still use. */
export class WorkAllowance {
  #left = Number.POSITIVE_INFINITY;
  #filledAtMs = 0;

  /** What is left at a time, where so much is given in a second; negative where the last event cost more than there was. */
  left(perSecond: number, nowMs: number): number {
    const given = (perSecond * (nowMs - this.#filledAtMs)) / 1000;
    this.#left = Math.min(perSecond * TAIL_WORK.burstSeconds, this.#left + given);
    this.#filledAtMs = nowMs;
    return this.#left;
  }

  spend(work: number): void {
    this.#left -= work;
  }

  /** How long nothing is left, in milliseconds; 0 where there is. */
  waitMs(perSecond: number, nowMs: number): number {
    return Math.max(0, (-this.left(perSecond, nowMs) / perSecond) * 1000);
  }
}

/**
 * Takes turns on the main thread: whatever else waits for it comes in between, and each of those who take turns after at most one slice of
 * each other.
 */
export class WorkSlices {
  readonly #queue = new SerialQueue();

  /** Does all steps, some milliseconds of them at a time. */
  async run(steps: Iterator<void>): Promise<void> {
    for (let isDone = false; !isDone; ) {
      isDone = await this.#queue.run(async () => {
        const until = performance.now() + SLICE_MS;
        let over = false;
        while (!over && performance.now() < until) over = steps.next().done === true;
        await yieldToOthers();
        return over;
      });
    }
  }
}

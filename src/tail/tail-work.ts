import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { SerialQueue } from '../../work/serial-queue.ts';
import { TAIL_WORK } from './tail-limits.ts';

/** Matching may hold the main thread for so long at a time. */
const SLICE_MS = 8;

/** Token bucket of one tail, in characters that matching looks through. */
export class WorkAllowance {
  #left = Number.POSITIVE_INFINITY;
  #filledAtMs = 0;

  /** Returns what is left at a time, refilled at so much per second; negative if the last event cost more than was left. */
  left(perSecond: number, nowMs: number): number {
    const refill = (perSecond * (nowMs - this.#filledAtMs)) / 1000;
    this.#left = Math.min(perSecond * TAIL_WORK.burstSeconds, this.#left + refill);
    this.#filledAtMs = nowMs;
    return this.#left;
  }

  spend(work: number): void {
    this.#left -= work;
  }

  /** Returns the milliseconds until something is left; 0 if something is. */
  waitMs(perSecond: number, nowMs: number): number {
    return Math.max(0, (-this.left(perSecond, nowMs) / perSecond) * 1000);
  }
}

/**
 * Runs several jobs on the main thread in slices of some milliseconds. Other work of the thread comes in between, and a job waits for at
 * most one slice of each other job.
 */
export class WorkSlices {
  readonly #queue = new SerialQueue();

  /** Runs all steps of a job, one slice at a time. */
  async run(steps: Iterator<void>): Promise<void> {
    for (let isDone = false; !isDone; ) {
      isDone = await this.#queue.run(async () => {
        const until = performance.now() + SLICE_MS;
        let isOver = false;
        while (!isOver && performance.now() < until) isOver = steps.next().done === true;
        await yieldToOthers();
        return isOver;
      });
    }
  }
}

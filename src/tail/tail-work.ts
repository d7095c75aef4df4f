import { TAIL_WORK } from './tail-limits.ts';

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

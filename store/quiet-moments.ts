import { setTimeout as delay } from 'node:timers/promises';

export interface QuietMomentsOptions {
  /** How long nobody must have searched: who has just been answered often asks for more. */
  readonly quietMs: number;
  /** Milliseconds since any fixed time. Default: those of the process. */
  readonly now?: () => number;
  /** Default: a timer. */
  readonly rest?: (ms: number) => Promise<unknown>;
}

/**
 * Finds moments for work that can wait and is done in small steps: those in which nobody searches. A step beside a search takes one of the cores that it needs,
 * and DuckDB's threads go from one to the other.
 */
export class QuietMoments {
  readonly #quietMs: number;
  readonly #now: () => number;
  readonly #rest: (ms: number) => Promise<unknown>;
  #searches = 0;
  #searchedMs = Number.NEGATIVE_INFINITY;

  constructor({ quietMs, now = () => performance.now(), rest = delay }: QuietMomentsOptions) {
    this.#quietMs = quietMs;
    this.#now = now;
    this.#rest = rest;
  }

  async duringSearch<T>(search: () => Promise<T>): Promise<T> {
    this.#searches += 1;
    try {
      return await search();
    } finally {
      this.#searches -= 1;
      this.#searchedMs = this.#now();
    }
  }

  /** Waits for such moments, each time anew, but no more than `mostMs` in all: where somebody always searches, work goes on beside that. */
  waiting(mostMs: number): (signal: AbortSignal) => Promise<void> {
    let leftMs = mostMs;
    return async (signal) => {
      while (!signal.aborted && !this.#isQuiet && leftMs > 0) {
        leftMs -= this.#quietMs;
        await this.#rest(this.#quietMs);
      }
    };
  }

  get #isQuiet(): boolean {
    return this.#searches === 0 && this.#now() - this.#searchedMs >= this.#quietMs;
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { SearchActivity } from './search-activity.ts';

export interface IdleGateOptions {
  readonly searches: SearchActivity;
  /** How long nobody must have searched: who has just been answered often asks for more. */
  readonly idleMs: number;
  /** Default: a timer. */
  readonly rest?: (ms: number) => Promise<unknown>;
}

/**
 * Finds moments for work that can wait and is done in small steps: those in which nobody searches. A step beside a search takes one of the
 * cores that it needs, and DuckDB's threads go from one to the other.
 */
export class IdleGate {
  readonly #searches: SearchActivity;
  readonly #idleMs: number;
  readonly #rest: (ms: number) => Promise<unknown>;

  constructor({ searches, idleMs, rest = delay }: IdleGateOptions) {
    this.#searches = searches;
    this.#idleMs = idleMs;
    this.#rest = rest;
  }

  /** Waits for such moments, each time anew, but no more than `maxMs` in all: where somebody always searches, work goes on beside that. */
  waiting(maxMs: number): (signal: AbortSignal) => Promise<void> {
    let leftMs = maxMs;
    return async (signal) => {
      while (!signal.aborted && !this.#searches.isIdle(this.#idleMs) && leftMs > 0) {
        const beganMs = this.#searches.now();
        await this.#rest(this.#idleMs);
        // Beside searches a rest is often much longer than what was asked for.
        leftMs -= this.#searches.now() - beganMs;
      }
    };
  }
}

import type { StoreLogger } from './event-store.ts';

/** The retention waits this long before it drops most of the events. */
export const HOLD_MS = 3_600_000;

/** An event that is accepted at the very edge of the retention may still be on its way, and a search may reach 60 s further back. */
export const RETENTION_GRACE_MS = 120_000;

/** Who asks for what has expired to be dropped: the store itself, because of its clock, or somebody who knows. */
export type SweepAskedBy = 'clock' | 'caller';

export interface RetentionHoldOptions {
  /** What is kept back, such as `events`, for messages. */
  readonly what: string;
  readonly waitMs: number;
  /** Milliseconds of a clock that nobody sets. */
  readonly elapsedMs: () => number;
  readonly logger: StoreLogger;
}

/**
 * Keeps the retention from dropping more than half of the events until it has wanted to for an hour: a clock that is days ahead would
 * otherwise remove everything in one sweep. The hour is not measured by that clock, and begins again at each start.
 */
export class RetentionHold {
  readonly #options: RetentionHoldOptions;
  #sinceMs: number | undefined;
  #reason: string | undefined;

  constructor(options: RetentionHoldOptions) {
    this.#options = options;
  }

  /** Says for people why nothing is dropped at the moment; undefined where nothing is held back. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Whether `expired` of `all` events have to stay for now. Called by every sweep that a clock has begun. */
  keeps(expired: number, all: number): boolean {
    const { what, waitMs, elapsedMs, logger } = this.#options;
    // New events of senders with the same wrong clock do not end a wait.
    if (expired === 0 || (this.#sinceMs === undefined && expired * 2 <= all)) {
      this.#sinceMs = undefined;
      this.#reason = undefined;
      return false;
    }
    if (this.#sinceMs === undefined) {
      this.#sinceMs = elapsedMs();
      const found = `${expired} of ${all} ${what} are past the retention by this machine's clock`;
      this.#reason = `${found}; they are kept for ${waitMs / 60_000} minutes, in case the clock is wrong`;
      logger.warn({ expired, of: all, waitMs }, this.#reason);
    }
    const isOver = elapsedMs() - this.#sinceMs >= waitMs;
    if (isOver) {
      this.#reason = undefined;
    }
    return !isOver;
  }
}

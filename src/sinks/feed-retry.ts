import { setTimeout as timer } from 'node:timers/promises';
import { DeliveryError } from './sink.ts';

export interface RetryOptions {
  /** Aborted: ends the pauses and allows no further attempt. */
  readonly stopping: AbortSignal;
  /** A random number in [0, 1). */
  readonly random: () => number;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
  /** Called after each failed attempt. */
  readonly failed?: (message: string) => void;
  /** Waits so many milliseconds; rejects when the signal is aborted. */
  readonly pause: (lengthMs: number, signal: AbortSignal) => Promise<unknown>;
}

/** How a program draws and waits. */
export const RETRY_TIMES: Pick<RetryOptions, 'random' | 'pause'> = {
  random: Math.random,
  pause: (lengthMs, signal) => timer(lengthMs, undefined, { signal }),
};

const MIN_PAUSE_MS = 500;
export const MAX_PAUSE_MS = 30_000;

/**
 * The pause after so many failures in a row: random up to a bound that doubles (full jitter, so that senders that failed together do not
 * retry together), or the wait that the other side asks for and up to a second more, whichever is longer.
 */
export function pauseMs(failures: number, retryAfterMs: number | null, random: () => number): number {
  const drawn = random();
  const growing = drawn * Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** Math.min(failures - 1, 16));
  return retryAfterMs === null ? growing : Math.max(growing, retryAfterMs + drawn * 1_000);
}

/** Repeats an attempt until it succeeds, and shows each failure. Throws errors other than `unavailable`, and the reason of `stopping`. */
export async function untilDone<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { stopping, random, tell, pause } = options;
  for (let failures = 0; ; ) {
    try {
      const result = await attempt();
      if (failures > 0) tell('works again');
      return result;
    } catch (error) {
      if (!(error instanceof DeliveryError) || error.code !== 'unavailable') throw error;
      failures += 1;
      options.failed?.(error.message);
      if (stopping.aborted) {
        tell(error.message);
        throw stopping.reason;
      }
      const lengthMs = pauseMs(failures, error.retryAfterMs, random);
      tell(`${error.message}; trying again in ${(lengthMs / 1_000).toFixed(1)} s`);
      await pause(lengthMs, stopping);
    }
  }
}

/** Limits how long the feed waits for one thing, and remembers what it waited for. */
export interface FeedPatience {
  /** Waits for `work` within the limit. `what` names it in messages. */
  during<Result>(what: string, work: () => Promise<Result>): Promise<Result>;
  /** Notes a failed attempt, whose message becomes a part of `givenUp`. */
  failed(message: string): void;
  /** Returns what the feed waited for when the limit passed; null before that. */
  givenUp(): string | null;
  close(): void;
}

/** Calls `onGivenUp` once a wait takes longer than `limitMs`; null: no limit. */
export function feedPatience(limitMs: number | null, onGivenUp: () => void): FeedPatience {
  let timer: NodeJS.Timeout | undefined;
  let waitsFor = '';
  let lastFailure: string | null = null;
  let givenUp: string | null = null;

  const giveUp = (): void => {
    givenUp = lastFailure === null ? waitsFor : `${waitsFor}: ${lastFailure}`;
    onGivenUp();
  };
  return {
    async during(what, work) {
      [waitsFor, lastFailure] = [what, null];
      if (limitMs !== null) timer = setTimeout(giveUp, limitMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
      }
    },
    failed(message) {
      lastFailure = message;
    },
    givenUp: () => givenUp,
    close: () => clearTimeout(timer),
  };
}

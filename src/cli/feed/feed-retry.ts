import { DeliveryError } from '../../sinks/delivery-error.ts';

export interface RetryOptions {
  /** Aborted: no further attempt is made, and no pause is waited for. */
  readonly stopping: AbortSignal;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Takes messages for people. */
  readonly tell: (message: string) => void;
  /** Is told of each failure after which another attempt is made. */
  readonly failed?: (message: string) => void;
  /** Waits so many milliseconds; rejects where the signal is aborted. */
  readonly pause: (lengthMs: number, signal: AbortSignal) => Promise<unknown>;
}

const FIRST_MS = 500;
export const LONGEST_MS = 30_000;

/**
 * How long to wait after so many failures in a row: anything up to a bound that doubles (full jitter, so that those that failed together do
 * not come back together), or what the other side asks for and up to a second more.
 */
export function pauseMs(failures: number, retryAfterMs: number | null, random: () => number): number {
  if (retryAfterMs !== null) return retryAfterMs + random() * 1_000;
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
}

/** Attempts for as long as it takes, telling of each failure. Throws what cannot heal, and the signal's reason where it is aborted. */
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

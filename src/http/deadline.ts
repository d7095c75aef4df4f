/** Why work was interrupted that did not end in time. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`it was not done within ${deadlineMs} ms`);
    this.deadlineMs = deadlineMs;
  }
}

/**
 * Runs `work` with a signal that aborts when `outer` does, or with DeadlinePassed after `deadlineMs`; the call then rejects with the reason
 * at once. DuckDB looks for an interruption only between two chunks of rows, which is seconds apart for a filter with hundreds of
 * wildcards: nobody is to wait for that.
 */
export async function withDeadline<T>(deadlineMs: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeUp = new AbortController();
  const timer = setTimeout(() => timeUp.abort(new DeadlinePassed(deadlineMs)), deadlineMs);
  const signal = AbortSignal.any([outer, timeUp.signal]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Why work was interrupted that did not end in time. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`it was not done within ${deadlineMs} ms`);
    this.deadlineMs = deadlineMs;
  }
}

/** Runs `work` with a signal that aborts when `outer` does, or with DeadlinePassed after `deadlineMs`. */
export async function withDeadline<T>(deadlineMs: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeUp = new AbortController();
  const timer = setTimeout(() => timeUp.abort(new DeadlinePassed(deadlineMs)), deadlineMs);
  try {
    return await work(AbortSignal.any([outer, timeUp.signal]));
  } finally {
    clearTimeout(timer);
  }
}

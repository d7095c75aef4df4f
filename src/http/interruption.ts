import type { IncomingMessage, ServerResponse } from 'node:http';

/** The reason of an abort at a deadline. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`it was not done within ${deadlineMs} ms`);
    this.deadlineMs = deadlineMs;
  }
}

/**
 * Runs `work` with a signal that aborts when `outer` does, or with DeadlinePassed after `deadlineMs`. The call rejects with the reason at
 * once: DuckDB looks for an interruption only between two chunks of rows, which may be seconds apart for a filter with hundreds of
 * wildcards.
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

/** The reason of an abort when the client went away. */
export class ClientHungUp extends Error {
  override readonly name = 'ClientHungUp';
}

/** A signal that aborts with ClientHungUp when the connection closes before the response is written. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished) controller.abort(new ClientHungUp('the client closed the connection before the answer'));
  };
  // The connection may have closed while the body was being read.
  if (response.closed || response.destroyed) onClose();
  else response.once('close', onClose);
  return controller.signal;
}

const BROKEN_OFF: ReadonlySet<unknown> = new Set(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Whether an error only says that the client closed the connection before its request or the answer was whole. */
export function isHangUp(error: unknown, request: IncomingMessage): boolean {
  if (error instanceof ClientHungUp) return true;
  const isGone = request.socket.destroyed || (request.destroyed && !request.complete);
  return isGone && BROKEN_OFF.has((error as NodeJS.ErrnoException | null)?.code);
}

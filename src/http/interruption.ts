import type { IncomingMessage, ServerResponse } from 'node:http';
import { whenCallerLeaves } from '../../edge/leaving-callers.ts';

/** The reason of an abort at a deadline. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`it was not done within ${deadlineMs} ms`);
    this.deadlineMs = deadlineMs;
  }
}

/** Aborts its signal when another one does, or with DeadlinePassed after some time, until it is disposed. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(deadlineMs: number, outer: AbortSignal) {
    const timeUp = new AbortController();
    this.#timer = setTimeout(() => timeUp.abort(new DeadlinePassed(deadlineMs)), deadlineMs);
    this.signal = AbortSignal.any([outer, timeUp.signal]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** The reason of an abort when the client went away. */
export class ClientHungUp extends Error {
  override readonly name = 'ClientHungUp';
}

/** One signal serves all who ask for that of a response, so that it has few listeners. */
const SIGNALS = new WeakMap<ServerResponse, AbortSignal>();

/**
 * A signal that aborts with ClientHungUp when the connection closes before the response is written. The search that it is given to then
 * ends: `StatementRunner` in `store/embedded/duckdb/statement-runner.ts` interrupts the statement.
 */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const known = SIGNALS.get(response);
  if (known !== undefined) return known;
  const controller = new AbortController();
  SIGNALS.set(response, controller.signal);
  whenCallerLeaves(response, () => controller.abort(new ClientHungUp('the client closed the connection before the answer')));
  return controller.signal;
}

const BROKEN_OFF: ReadonlySet<unknown> = new Set(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Whether an error only says that the client closed the connection before its request or the answer was whole. */
export function isHangUp(error: unknown, request: IncomingMessage): boolean {
  if (error instanceof ClientHungUp) return true;
  const isGone = request.socket.destroyed || (request.destroyed && !request.complete);
  return isGone && BROKEN_OFF.has((error as NodeJS.ErrnoException | null)?.code);
}

import type { ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { CALLER_IDLE_MS, cutOffIdle } from '../../edge/leaving-callers.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { type AnswerPieces, answerWrites } from './answer-writes.ts';
import { ClientHungUp, DeadlinePassed, hangUpSignal } from './interruption.ts';

/** How an answer ended. */
export type AnswerOutcome = 'sent' | 'deadline' | 'idle' | 'hung_up' | 'failed';

export interface AnswerToSend {
  /** The turns of the program's main thread. */
  readonly turns: MainThreadTurns;
  readonly reply: FastifyReply;
  /** What the log calls an answer that ends early, such as `an export`. */
  readonly what: string;
  /** Begins to read the pieces, until the signal aborts. */
  readonly read: (signal: AbortSignal) => AnswerPieces;
  /** The whole answer may take so long; undefined: however long its reader takes. */
  readonly deadlineMs?: number | undefined;
  /** The client may take no byte for so long. */
  readonly idleMs?: number | undefined;
  /** Called once, when the answer holds nothing any more. */
  readonly onEnd?: ((outcome: AnswerOutcome) => void) | undefined;
}

/**
 * Begins an answer; resolves with its body once its first bytes are there, and rejects if they cannot be read. The body is bytes where all
 * of it is there by then, so that its length is told. A later failure resets the connection, so that nobody takes a part for the whole,
 * and is logged.
 */
export async function beginAnswer(answer: AnswerToSend): Promise<Buffer | Readable> {
  const { turns, reply, what, read, deadlineMs, idleMs = CALLER_IDLE_MS, onEnd } = answer;
  const response = reply.raw;
  const stop = new AbortController();
  const { signal } = stop;
  const cut = (reason: unknown): void => {
    stop.abort(reason);
    // Without chunks (HTTP/1.0) an orderly close marks the end of the answer, so the connection is reset. Before the headers are sent, an
    // error can still be answered.
    if (response.headersSent) response.socket?.resetAndDestroy();
  };
  // AbortSignal.any may give the reason of either signal if both have aborted, and cutting off also hangs up.
  const hungUp = hangUpSignal(response);
  hungUp.addEventListener('abort', () => stop.abort(hungUp.reason), { once: true });
  if (hungUp.aborted) stop.abort(hungUp.reason);
  const timer = deadlineMs === undefined ? undefined : setTimeout(() => cut(new DeadlinePassed(deadlineMs)), deadlineMs);
  const end = (error: unknown): void => {
    clearTimeout(timer);
    const reason = signal.aborted ? signal.reason : error;
    const outcome = outcomeOf(reason);
    onEnd?.(outcome);
    if (!response.headersSent) return;
    if (outcome === 'failed') reply.log.error({ err: reason }, `${what} broke off`);
    if (outcome === 'idle' || outcome === 'deadline') reply.log.warn({ err: reason }, `${what} was cut off`);
  };
  const writes = answerWrites(read(signal), turns);
  try {
    const first = await writes.next();
    cutOffIdle(response, idleMs, () => cut(new ReaderIdle(idleMs)));
    if (first.done === true) {
      finished(response, () => end(null));
      return first.value;
    }
    const body = Readable.from(goOn(first.value, writes), { objectMode: false });
    body.once('error', cut);
    whenBothClosed(body, response, () => end(null));
    return body;
  } catch (error) {
    end(error);
    throw error;
  }
}

/**
 * The first write, and then the rest. It is no generator: where a client goes away before anything is read, the `finally` of a generator
 * that has not begun never runs, and `rest` would keep its files and readings.
 */
function goOn(first: Buffer, rest: AsyncGenerator<Buffer, Buffer, void>): AsyncIterableIterator<Buffer> {
  let unread: Buffer | undefined = first;
  let isOver = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (unread !== undefined) {
        const value = unread;
        unread = undefined;
        return { value, done: false };
      }
      if (isOver) return { value: undefined, done: true };
      const { value, done } = await rest.next();
      isOver = done === true;
      return { value, done: false };
    },
    async return() {
      await rest.return(first);
      return { value: undefined, done: true };
    },
  };
}

/** The reason of an abort when the client stopped reading. */
class ReaderIdle extends Error {
  override readonly name = 'ReaderIdle';

  constructor(idleMs: number) {
    super(`the client took no byte for ${idleMs} ms`);
  }
}

/** Calls `act` when the body has released its source and the response was sent or its client is gone. */
function whenBothClosed(body: Readable, response: ServerResponse, act: () => void): void {
  let open = 2;
  const onClosed = (): void => {
    open -= 1;
    if (open === 0) act();
  };
  body.once('close', onClosed);
  finished(response, onClosed);
}

function outcomeOf(reason: unknown): AnswerOutcome {
  if (reason === null) return 'sent';
  if (reason instanceof DeadlinePassed) return 'deadline';
  if (reason instanceof ReaderIdle) return 'idle';
  return reason instanceof ClientHungUp ? 'hung_up' : 'failed';
}

/** The header of an answer that may lack events, because files of the store are damaged or missing: how many at most. */
const INCOMPLETE_HEADER = 'shield-incomplete';

/** Sets the header where there are such events. It is called once the answer has been read. */
export function markIncomplete(reply: FastifyReply, unreadableEvents: number): void {
  if (unreadableEvents > 0) reply.header(INCOMPLETE_HEADER, String(unreadableEvents));
}

import { randomUUID } from 'node:crypto';
import { EdgeError } from '../../edge-error.ts';
import { makeBatons } from './baton.ts';
import type { DatabaseLimits } from './database-limits.ts';
import { type DatabaseProcess, ProcessGone, transactionTimeout } from './database-process-handle.ts';
import type { RunOutcome } from './process-message.ts';
import type { ProcessPool } from './process-pool.ts';
import type { PlanRequest } from './read-pipeline.ts';
import { makeStoredSqls, type StoredSqls } from './stored-sqls.ts';
import type { KeptToken } from './token-store.ts';

export type StreamEnd = 'closed' | 'revoked' | TransactionEnd;

/** Why a stream's transaction was rolled back, and the stream ended with it. */
type TransactionEnd = 'transaction-deadline' | 'log-held';

/** One client's sequence of requests, with its transaction. */
export interface DatabaseStream {
  readonly id: string;
  readonly token: KeptToken;
  readonly sqls: StoredSqls;
  /** Why it ended while it was in use; null while it has not. */
  readonly ended: () => StreamEnd | null;
}

interface StreamState extends DatabaseStream {
  /** Of the baton that the next request must show. */
  turn: number;
  inUse: boolean;
  end: StreamEnd | null;
  process: DatabaseProcess | null;
  /** Its process holds a transaction or a setting, so it cannot be given to another stream. */
  keepsState: boolean;
  expiry: NodeJS.Timeout | null;
  /** Ends its transaction; null where none is open. */
  transactionEnd: NodeJS.Timeout | null;
}

export interface StreamsOptions {
  readonly path: string;
  readonly limits: DatabaseLimits;
  readonly pool: ProcessPool;
}

export interface OpenStreams {
  /** Throws EdgeError 503 beyond the limit. */
  open(token: KeptToken): DatabaseStream;
  /** The stream of a baton, which can be used once. Throws EdgeError 400. */
  resume(baton: string, token: KeptToken): DatabaseStream;
  /**
   * Rejects with StatementError for a text that is not stored, with EdgeError, or with ProcessGone when the statement was stopped and the
   * stream with it.
   */
  run(stream: DatabaseStream, request: PlanRequest, answerBytes: number): Promise<RunOutcome>;
  /** The stream waits for its next request; returns the baton for it. */
  suspend(stream: DatabaseStream): string;
  /** What was not committed is rolled back. */
  close(stream: DatabaseStream): Promise<void>;
  /** Ends every stream whose token does not pass, whatever it is doing. */
  revoke(isValid: (hash: string) => boolean): void;
  /** An idle stream that needs none gives its process away. */
  reclaim(): void;
  size(): number;
  stop(): void;
}

/** What a stream is told that was ended with its transaction; the first code is libsql's own. */
const TRANSACTION_CODES = { 'transaction-deadline': 'TRANSACTION_TIMEOUT', 'log-held': 'TRANSACTION_ENDED' } as const;

/** The protocol's code for a request whose process is gone. */
export function goneCode({ reason }: ProcessGone): string {
  switch (reason) {
    case 'transaction-deadline':
    case 'log-held':
      return TRANSACTION_CODES[reason];
    case 'memory':
      return 'SQLITE_NOMEM';
    case 'ended':
      return 'SQLITE_INTERNAL';
    default:
      return 'SQLITE_INTERRUPT';
  }
}

/** The answer to whoever used a token that was invalidated meanwhile. */
export function revokedError(cause?: unknown): EdgeError {
  return new EdgeError(401, 'TOKEN_INVALID', 'the access token was invalidated while it was in use', { cause });
}

export const LONGEST_STORED_SQL = 65_536;

function clearTimers(stream: StreamState, ...timers: readonly ('expiry' | 'transactionEnd')[]): void {
  for (const timer of timers) {
    if (stream[timer] !== null) clearTimeout(stream[timer]);
    stream[timer] = null;
  }
}

/** The open streams and the processes they use. */
export function makeOpenStreams({ path, limits, pool }: StreamsOptions): OpenStreams {
  const batons = makeBatons();
  /** Those that wait longest come first. */
  const streams = new Map<string, StreamState>();

  function storedBytesOf({ hash }: KeptToken): number {
    const ofToken = [...streams.values()].filter(({ token }) => token.hash === hash);
    return ofToken.reduce((sum, { sqls }) => sum + sqls.sizeBytes(), 0);
  }

  function stateOf({ id }: DatabaseStream): StreamState {
    const state = streams.get(id);
    if (state === undefined) throw new ProcessGone('stopped', 'the stream was ended');
    return state;
  }

  async function giveBack(stream: StreamState): Promise<void> {
    const { process } = stream;
    stream.process = null;
    if (process === null) return;
    try {
      await process.close();
    } catch {
      // A process that cannot close its connection is ended instead; that closes it too.
      await process.kill('ended', 'its connection could not be closed');
    }
    pool.release(process);
  }

  function transactionError(why: TransactionEnd): ProcessGone {
    if (why === 'transaction-deadline') return transactionTimeout(limits.transactionMs);
    return new ProcessGone(why, 'the transaction kept the write-ahead log from being emptied, which is as large as is allowed');
  }

  /** A stream that is not in use is kept until it expires, so that its next request is told why it ended. */
  async function endTransaction(stream: StreamState, why: TransactionEnd): Promise<void> {
    clearTimers(stream, 'transactionEnd');
    stream.end = why;
    if (stream.inUse) await stream.process?.kill(why, transactionError(why).message);
    else await giveBack(stream);
  }

  function followTransaction(stream: StreamState, { transactionMs }: RunOutcome): void {
    clearTimers(stream, 'transactionEnd');
    if (transactionMs === null || stream.end !== null) return;
    const leftMs = Math.max(0, limits.transactionMs - transactionMs);
    stream.transactionEnd = setTimeout(() => void endTransaction(stream, 'transaction-deadline'), leftMs);
  }

  /** Resolves when they have ended, so that the writer that is told so can write again. */
  async function endOtherTransactions(writer: StreamState): Promise<void> {
    const others = [...streams.values()].filter((stream) => stream !== writer && stream.transactionEnd !== null);
    await Promise.all(others.map((stream) => endTransaction(stream, 'log-held')));
  }

  async function drop(stream: StreamState, why: StreamEnd): Promise<void> {
    stream.end = why;
    streams.delete(stream.id);
    clearTimers(stream, 'expiry', 'transactionEnd');
    // Whoever is using it learns it from the process.
    if (stream.inUse && why === 'revoked') await stream.process?.kill('stopped', 'the access token was invalidated');
    await giveBack(stream);
  }

  async function processOf(stream: StreamState): Promise<DatabaseProcess> {
    if (stream.process !== null) return stream.process;
    const process = await pool.take();
    stream.process = process;
    const { lockWaitMs, valueBytes, fileBytes, logBytes, sqlBytes } = limits;
    await process.open({ path, readOnly: stream.token.kind === 'read-only', lockWaitMs, valueBytes, fileBytes, logBytes, sqlBytes });
    // It may have ended while it waited, when it had no process that could have told so.
    if (stream.end !== null) throw new ProcessGone('stopped', 'the stream was ended');
    return process;
  }

  return {
    open(token) {
      if (streams.size >= limits.streams) {
        throw new EdgeError(503, 'TOO_MANY_STREAMS', `${limits.streams} streams are open; close some, or wait until they expire`);
      }
      const stream: StreamState = {
        id: randomUUID(),
        token,
        sqls: makeStoredSqls({
          most: limits.storedSqls,
          longest: LONGEST_STORED_SQL,
          maxBytes: limits.storedBytes,
          usedBytes: () => storedBytesOf(token),
        }),
        ended: () => stream.end,
        turn: 0,
        inUse: true,
        end: null,
        process: null,
        keepsState: false,
        expiry: null,
        transactionEnd: null,
      };
      streams.set(stream.id, stream);
      return stream;
    },
    resume(baton, token) {
      const facts = batons.open(baton);
      if (facts === null) throw new EdgeError(400, 'BATON_INVALID', 'the baton is not one that this program gave since it was started');
      const stream = streams.get(facts.streamId);
      if (stream === undefined) {
        throw new EdgeError(400, 'STREAM_EXPIRED', `the stream has expired after ${limits.idleMs} ms without a request, or was closed`);
      }
      if (stream.token.hash !== token.hash) throw new EdgeError(400, 'BATON_INVALID', 'the baton belongs to another access token');
      if (stream.inUse || stream.turn !== facts.turn)
        throw new EdgeError(400, 'BATON_REUSED', 'the baton was used before; each is for one request');
      const { end } = stream;
      if (end === 'transaction-deadline' || end === 'log-held') {
        void drop(stream, end);
        throw new EdgeError(400, TRANSACTION_CODES[end], `${transactionError(end).message}; it was rolled back and its stream is closed`);
      }
      clearTimers(stream, 'expiry');
      stream.inUse = true;
      stream.turn += 1;
      return stream;
    },
    async run(stream, { plan, names }, answerBytes) {
      const state = stateOf(stream);
      const stored = new Map(names.map(({ sqlId, place }) => [sqlId, state.sqls.find(place, sqlId)]));
      try {
        const process = await processOf(state);
        const { rows, statementMs, requestMs } = limits;
        const outcome = await process.run({ plan, stored, rows, bytes: answerBytes }, { statementMs, requestMs });
        state.keepsState = outcome.keepsState;
        followTransaction(state, outcome);
        if (outcome.logIsHeld) await endOtherTransactions(state);
        return outcome;
      } catch (error) {
        if (!(error instanceof ProcessGone)) throw error;
        const revoked = state.end === 'revoked';
        await drop(state, 'closed');
        throw revoked ? revokedError(error) : error;
      }
    },
    suspend(stream) {
      const state = stateOf(stream);
      state.inUse = false;
      state.expiry = setTimeout(() => void drop(state, 'closed'), limits.idleMs);
      streams.delete(state.id);
      streams.set(state.id, state);
      return batons.seal({ streamId: state.id, turn: state.turn });
    },
    async close({ id }) {
      const state = streams.get(id);
      if (state !== undefined) await drop(state, 'closed');
    },
    revoke(isValid) {
      for (const stream of [...streams.values()]) if (!isValid(stream.token.hash)) void drop(stream, 'revoked');
    },
    reclaim() {
      for (const stream of streams.values()) {
        if (!stream.inUse && !stream.keepsState && stream.process !== null) return void giveBack(stream);
      }
    },
    size: () => streams.size,
    stop() {
      for (const stream of streams.values()) clearTimers(stream, 'expiry', 'transactionEnd');
      streams.clear();
    },
  };
}

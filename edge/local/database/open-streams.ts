import { randomUUID } from 'node:crypto';
import { EdgeError } from '../../edge-error.ts';
import type { KeptToken } from './access-tokens.ts';
import type { DatabaseLimits } from './database-limits.ts';
import type { Counters, RunOutcome } from './process-message.ts';
import { type DatabaseProcess, ProcessGone, type ProcessPool, transactionTimeout } from './process-pool.ts';
import type { PlanRequest } from './read-pipeline.ts';
import { StatementError } from './stream-plan.ts';

/** The SQL texts that a stream keeps by number. */
interface StoredSqls {
  /** Those of the numbers that are in use. */
  pick(sqlIds: readonly number[]): ReadonlyMap<number, string>;
  /** `path` is that of the request. Throws StatementError that names it. */
  store(path: string, sqlId: number, sql: string): void;
  close(sqlId: number): void;
  /** UTF-8 bytes of its texts. */
  sizeBytes(): number;
}

interface StoredSqlsOptions {
  /** Texts of the stream. */
  readonly maxTexts: number;
  /** Characters of one text. */
  readonly maxLength: number;
  /** UTF-8 bytes of the texts of all streams of the token. */
  readonly maxBytes: number;
  /** The bytes that these use now. */
  readonly usedBytes: () => number;
}

function makeStoredSqls({ maxTexts, maxLength, maxBytes, usedBytes }: StoredSqlsOptions): StoredSqls {
  const texts = new Map<number, string>();
  let sizeBytes = 0;
  return {
    pick: (ids) => new Map([...texts].filter(([id]) => ids.includes(id))),
    store(path, id, text) {
      if (texts.has(id)) throw new StatementError('SQL_STORE_EXISTS', `${path}.sql_id is ${id}, which is in use; close_sql frees it`);
      if (texts.size >= maxTexts)
        throw new StatementError('SQL_STORE_TOO_MANY', `${path}: this stream stores ${maxTexts} SQL texts, and no more`);
      if (text.length > maxLength) {
        throw new StatementError('SQL_STORE_TOO_LARGE', `${path}.sql has ${text.length} characters; allowed: up to ${maxLength}`);
      }
      const [bytes, used] = [Buffer.byteLength(text), usedBytes()];
      if (used + bytes > maxBytes) {
        const stored = `${path}.sql has ${bytes} bytes, and the streams of this token store ${used} already`;
        throw new StatementError('SQL_STORE_TOO_LARGE', `${stored}; allowed: up to ${maxBytes} together`);
      }
      sizeBytes += bytes;
      texts.set(id, text);
    },
    close(id) {
      sizeBytes -= Buffer.byteLength(texts.get(id) ?? '');
      texts.delete(id);
    },
    sizeBytes: () => sizeBytes,
  };
}

type StreamEnd = 'closed' | 'revoked' | TransactionEnd;

/** Why a transaction was rolled back and its stream ended. */
type TransactionEnd = 'transaction-deadline' | 'log-held';

/** The requests of one client, one after the other, with their transaction. */
export interface DatabaseStream {
  readonly id: string;
  readonly token: KeptToken;
  readonly sqls: StoredSqls;
  /** Why it ended while it was in use; null while it has not. */
  readonly ended: () => StreamEnd | null;
}

interface StreamState extends DatabaseStream {
  /** What the next request must show: random, and for one request. Null while a request is under way. */
  baton: string | null;
  end: StreamEnd | null;
  process: DatabaseProcess | null;
  /** Its process holds a transaction or a setting, so no other stream may use it. */
  keepsState: boolean;
  /** Of its connection, for the next one; null where no statement has run. */
  counters: Counters | null;
  expiry: NodeJS.Timeout | null;
  /** Rolls its transaction back; null where none is open. */
  transactionEnd: NodeJS.Timeout | null;
}

interface StreamsOptions {
  readonly path: string;
  readonly limits: DatabaseLimits;
  readonly pool: ProcessPool;
}

export interface OpenStreams {
  /** Throws EdgeError 503 beyond the limit. */
  open(token: KeptToken): DatabaseStream;
  /** The stream of a baton, which is valid once. Throws EdgeError 400. */
  resume(baton: string, token: KeptToken): DatabaseStream;
  /**
   * Rejects with EdgeError, or with ProcessGone when the statement was stopped and its stream ended.
   */
  run(stream: DatabaseStream, request: PlanRequest, answerBytes: number): Promise<RunOutcome>;
  /** Makes the stream wait for its next request, and returns the baton for that. Its process goes to whoever waits for one. */
  suspend(stream: DatabaseStream): string;
  /** Ends the stream. Its open transaction is rolled back. */
  close(stream: DatabaseStream): Promise<void>;
  /** Ends every stream whose token is invalid, even in the middle of a statement. */
  revoke(isValid: (hash: string) => boolean): void;
  /** Releases the process of an idle stream that needs none. */
  reclaim(): void;
  size(): number;
  stop(): void;
}

/** The error codes for a stream that ended with its transaction. The first is libsql's. */
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

/** The error for a token that was invalidated while it was used. */
export function revokedError(cause?: unknown): EdgeError {
  return new EdgeError(401, 'TOKEN_INVALID', 'the access token was invalidated while it was in use', { cause });
}

export const MAX_STORED_SQL_LENGTH = 65_536;

function clearTimers(stream: StreamState, ...timers: readonly ('expiry' | 'transactionEnd')[]): void {
  for (const timer of timers) {
    if (stream[timer] !== null) clearTimeout(stream[timer]);
    stream[timer] = null;
  }
}

/** Makes the open streams and their processes. */
export function makeOpenStreams({ path, limits, pool }: StreamsOptions): OpenStreams {
  /** The streams that wait longest come first. */
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
      // A process that cannot close its connection is ended, which closes the connection, too.
      await process.kill('ended', 'its connection could not be closed');
    }
    pool.release(process);
  }

  function transactionError(why: TransactionEnd): ProcessGone {
    if (why === 'transaction-deadline') return transactionTimeout(limits.transactionMs);
    return new ProcessGone(why, 'the transaction kept the write-ahead log from being emptied, which is as large as is allowed');
  }

  /** A stream that is idle is kept until it expires, so that its next request is told why it ended. */
  async function endTransaction(stream: StreamState, why: TransactionEnd): Promise<void> {
    clearTimers(stream, 'transactionEnd');
    stream.end = why;
    if (stream.baton === null) await stream.process?.kill(why, transactionError(why).message);
    else await giveBack(stream);
  }

  function followTransaction(stream: StreamState, { transactionMs }: RunOutcome): void {
    clearTimers(stream, 'transactionEnd');
    if (transactionMs === null || stream.end !== null) return;
    const leftMs = Math.max(0, limits.transactionMs - transactionMs);
    stream.transactionEnd = setTimeout(() => void endTransaction(stream, 'transaction-deadline'), leftMs);
  }

  /** Resolves when the transactions have ended, so that the waiting writer can write again. */
  async function endOtherTransactions(writer: StreamState): Promise<void> {
    const others = [...streams.values()].filter((stream) => stream !== writer && stream.transactionEnd !== null);
    await Promise.all(others.map((stream) => endTransaction(stream, 'log-held')));
  }

  async function drop(stream: StreamState, why: StreamEnd): Promise<void> {
    stream.end = why;
    streams.delete(stream.id);
    clearTimers(stream, 'expiry', 'transactionEnd');
    // A stream in use learns it from its process.
    if (stream.baton === null && why === 'revoked') await stream.process?.kill('stopped', 'the access token was invalidated');
    await giveBack(stream);
  }

  async function processOf(stream: StreamState): Promise<DatabaseProcess> {
    if (stream.process !== null) return stream.process;
    const process = await pool.take();
    stream.process = process;
    const { counters, token } = stream;
    const { lockWaitMs, valueBytes, fileBytes, logBytes, sqlBytes } = limits;
    await process.open({ path, counters, readOnly: token.kind === 'read-only', lockWaitMs, valueBytes, fileBytes, logBytes, sqlBytes });
    // The stream may have ended while it waited without a process.
    if (stream.end !== null) throw new ProcessGone('stopped', 'the stream was ended');
    return process;
  }

  /** Releases the process of an idle stream that can go on with another one. Returns whether it does. */
  function offer(stream: StreamState): boolean {
    if (stream.baton === null || stream.keepsState || stream.process === null) return false;
    void giveBack(stream);
    return true;
  }

  return {
    open(token) {
      if (streams.size >= limits.streams) {
        // By then streams that nobody uses have expired.
        const headers = { 'retry-after': String(Math.ceil(limits.idleMs / 1_000)) };
        const message = `${limits.streams} streams are open; close some, or wait until they expire`;
        throw new EdgeError(503, 'TOO_MANY_STREAMS', message, { headers });
      }
      const stream: StreamState = {
        id: randomUUID(),
        token,
        sqls: makeStoredSqls({
          maxTexts: limits.storedSqls,
          maxLength: MAX_STORED_SQL_LENGTH,
          maxBytes: limits.storedBytes,
          usedBytes: () => storedBytesOf(token),
        }),
        ended: () => stream.end,
        baton: null,
        end: null,
        process: null,
        keepsState: false,
        counters: null,
        expiry: null,
        transactionEnd: null,
      };
      streams.set(stream.id, stream);
      return stream;
    },
    resume(baton, token) {
      const stream = [...streams.values()].find((each) => each.baton === baton && each.token.hash === token.hash);
      if (stream === undefined) {
        const message = `no stream of this token waits for this baton: a baton is for one request, within ${limits.idleMs} ms`;
        throw new EdgeError(400, 'STREAM_EXPIRED', message);
      }
      const { end } = stream;
      if (end === 'transaction-deadline' || end === 'log-held') {
        void drop(stream, end);
        throw new EdgeError(400, TRANSACTION_CODES[end], `${transactionError(end).message}; it was rolled back and its stream is closed`);
      }
      clearTimers(stream, 'expiry');
      stream.baton = null;
      return stream;
    },
    async run(stream, { plan, sqlIds }, answerBytes) {
      const state = stateOf(stream);
      const stored = state.sqls.pick(sqlIds);
      try {
        const process = await processOf(state);
        const { rows, statementMs, requestMs } = limits;
        const outcome = await process.run({ plan, stored, rows, bytes: answerBytes }, { statementMs, requestMs });
        state.keepsState = outcome.keepsState;
        state.counters = outcome.counters;
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
      state.baton = randomUUID();
      state.expiry = setTimeout(() => void drop(state, 'closed'), limits.idleMs);
      streams.delete(state.id);
      streams.set(state.id, state);
      if (pool.isAwaited()) offer(state);
      return state.baton;
    },
    async close({ id }) {
      const state = streams.get(id);
      if (state !== undefined) await drop(state, 'closed');
    },
    revoke(isValid) {
      for (const stream of [...streams.values()]) if (!isValid(stream.token.hash)) void drop(stream, 'revoked');
    },
    reclaim() {
      for (const stream of streams.values()) if (offer(stream)) return;
    },
    size: () => streams.size,
    stop() {
      for (const stream of streams.values()) clearTimers(stream, 'expiry', 'transactionEnd');
      streams.clear();
    },
  };
}

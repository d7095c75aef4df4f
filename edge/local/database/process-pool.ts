import { type ChildProcess, fork } from 'node:child_process';
import process from 'node:process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Semaphore } from '../../../work/semaphore.ts';
import { EdgeError } from '../../edge-error.ts';
import {
  LOCK_ANSWERS,
  LOCK_FD,
  MEMORY_SIGNAL,
  type OpenRequest,
  type ProcessAnswer,
  type ProcessRequest,
  type RunOutcome,
  type RunRequest,
  TRANSACTION_SIGNAL,
} from './process-message.ts';
import type { WriteQueue } from './write-queue.ts';

const ENTRY = fileURLToPath(new URL('./session/database-process.ts', import.meta.url));

/** A database process has ended. Uncommitted changes of its connection are lost. */
export class ProcessGone extends Error {
  override readonly name = 'ProcessGone';
  readonly reason: 'statement-deadline' | 'request-deadline' | 'transaction-deadline' | 'log-held' | 'memory' | 'ended' | 'stopped';

  constructor(reason: ProcessGone['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * A process that runs statements on one connection at a time. A thread would not do: SQLite inside of Node cannot be interrupted, and
 * ending a thread waits for its statement.
 */
export interface DatabaseProcess {
  readonly isAlive: () => boolean;
  open(options: OpenRequest): Promise<void>;
  /** Rejects with ProcessGone. It is past its deadline when a statement runs for `statementMs`, or all of it for `requestMs`. */
  run(options: RunRequest, deadlines: { readonly statementMs: number; readonly requestMs: number }): Promise<RunOutcome>;
  /** Closes the connection. The process can open another, unless it ends because it uses too much memory. */
  close(): Promise<void>;
  /** Ends the process at once. Resolves when it has ended. */
  kill(reason: ProcessGone['reason'], message: string): Promise<void>;
}

interface Pending {
  resolve(answer: ProcessAnswer): void;
  reject(error: Error): void;
  onStatement?: () => void;
}

function answered(pending: Pending, answer: ProcessAnswer): void {
  if (answer.kind === 'failed') pending.reject(new Error(`the database process failed: ${answer.message}`));
  else pending.resolve(answer);
}

interface DatabaseProcessOptions {
  /** A process with more resident memory is ended. */
  readonly memoryBytes: number;
  /** How long a transaction may be open while a request runs. */
  readonly transactionMs: number;
  /** Of the database that its connections open. */
  readonly writers: WriteQueue;
}

/** The error for a stream whose transaction was open for too long. */
export function transactionTimeout(transactionMs: number): ProcessGone {
  return new ProcessGone('transaction-deadline', `the transaction was open for longer than ${transactionMs} ms`);
}

/** Starts a database process. Resolves when it can be used. */
export async function startDatabaseProcess({ memoryBytes, transactionMs, writers }: DatabaseProcessOptions): Promise<DatabaseProcess> {
  const child: ChildProcess = fork(ENTRY, [process.pid, memoryBytes, transactionMs].map(String), {
    serialization: 'advanced',
    // The process gets neither the program's secrets nor its flags.
    env: {},
    execArgv: [],
    execPath: process.execPath,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
  });
  // Node gives none to a process for which no file could be opened; its 'error' comes later.
  const lockAnswers = (child.stdio as ChildProcess['stdio'] | undefined)?.[LOCK_FD] as Writable | undefined;
  // A process that has ended needs no answer; its end is told by 'exit'.
  lockAnswers?.on('error', () => {});
  const writer = (mayTry: boolean): void => {
    lockAnswers?.write(Uint8Array.of(mayTry ? LOCK_ANSWERS.tryAgain : LOCK_ANSWERS.fail));
  };
  let gone: ProcessGone | null = null;
  let pending: Pending | null = null;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));

  function end(error: ProcessGone): void {
    gone ??= error;
    pending?.reject(gone);
    pending = null;
  }
  const lost = (why: string): void => end(new ProcessGone('ended', `the database process ended: ${why}`));
  child.once('error', ({ message }) => lost(message));
  child.once('exit', (status, signal) => {
    writers.ended(writer);
    if (signal === TRANSACTION_SIGNAL) return end(transactionTimeout(transactionMs));
    if (signal === MEMORY_SIGNAL) {
      const allowed = `${Math.floor(memoryBytes / 1024 / 1024)} MiB`;
      return end(new ProcessGone('memory', `the statement took more memory than is allowed (${allowed}) and was stopped`));
    }
    lost(signal ?? `status ${status}`);
  });
  child.on('message', (answer: ProcessAnswer) => {
    if (answer.kind === 'statement') return pending?.onStatement?.();
    if (answer.kind === 'locked') {
      // What a process wrote may be read after its end is told. In the queue it would keep its place for ever.
      if (gone === null) writers.locked(writer);
      return;
    }
    writers.ended(writer);
    if (answer.kind === 'unlocked') return;
    const asked = pending;
    pending = null;
    if (asked !== null) answered(asked, answer);
  });

  function ask(request: ProcessRequest | null, onStatement?: () => void): Promise<ProcessAnswer> {
    return new Promise((resolve, reject) => {
      if (gone !== null) return reject(gone);
      if (pending !== null) return reject(new Error('a database process does one thing at a time'));
      pending = { resolve, reject, ...(onStatement === undefined ? {} : { onStatement }) };
      if (request !== null) child.send(request, (error) => error !== null && lost(error.message));
    });
  }

  async function kill(reason: ProcessGone['reason'], message: string): Promise<void> {
    end(new ProcessGone(reason, message));
    child.kill('SIGKILL');
    await ended;
  }

  await ask(null);
  return {
    isAlive: () => gone === null,
    kill,
    async open(options) {
      await ask({ kind: 'open', ...options });
    },
    async close() {
      const answer = await ask({ kind: 'close' });
      const isLarge = answer.kind === 'closed' && answer.rssBytes > memoryBytes / 2;
      if (isLarge) await kill('stopped', 'it kept too much memory');
    },
    async run(options, { statementMs, requestMs }) {
      const tooLong = (): void => void kill('statement-deadline', `the statement ran longer than ${statementMs} ms and was stopped`);
      const allTooLong = (): void => void kill('request-deadline', `the request ran longer than ${requestMs} ms and was stopped`);
      const whole = setTimeout(allTooLong, requestMs);
      let one = setTimeout(tooLong, statementMs);
      try {
        const answer = await ask({ kind: 'run', ...options }, () => {
          clearTimeout(one);
          one = setTimeout(tooLong, statementMs);
        });
        if (answer.kind !== 'ran') throw new Error(`the database process answered "${answer.kind}" where a result belongs`);
        return answer.outcome;
      } finally {
        clearTimeout(one);
        clearTimeout(whole);
      }
    },
  };
}

interface PoolOptions {
  /** Processes at once. */
  readonly maxProcesses: number;
  /** How long a caller waits for one, in milliseconds. */
  readonly queueMs: number;
  readonly start: () => Promise<DatabaseProcess>;
  /** Called when no process is free, to release those that are not needed. */
  readonly reclaim: () => void;
}

export interface ProcessPool {
  /** Takes a process without a connection. Throws EdgeError 503 where none becomes free in time. */
  take(): Promise<DatabaseProcess>;
  /** Whether somebody waits for a process. */
  isAwaited(): boolean;
  /** Gives a process back, without a connection or ended. */
  release(process: DatabaseProcess): void;
  /** Ends all processes. Resolves when they have ended. */
  stop(): Promise<void>;
}

/** Idle processes that are kept, so that the next stream need not wait for a start. */
const KEPT_IDLE = 2;

/** How long more of them are kept: callers that come together come again, and a start takes longer than most statements. */
const OTHERS_KEPT_MS = 5_000;

/** Starts database processes when they are needed and reuses them. Callers are served in their order. */
export function makeProcessPool({ maxProcesses, queueMs, start, reclaim }: PoolOptions): ProcessPool {
  /** A process in use has one of them. Another one is started only where none is idle, so that there are never more processes. */
  const permits = new Semaphore(maxProcesses);
  const inUse = new Map<DatabaseProcess, Disposable>();
  let idle: DatabaseProcess[] = [];
  let stopped = false;
  let ending: NodeJS.Timeout | null = null;

  async function permit(): Promise<Disposable> {
    const taking = permits.take(AbortSignal.timeout(queueMs));
    if (permits.isAwaited) reclaim();
    try {
      return await taking;
    } catch {
      const message = `all ${maxProcesses} database processes stayed busy for ${queueMs} ms`;
      const headers = { 'retry-after': String(Math.ceil(queueMs / 1_000)) };
      throw new EdgeError(503, 'TOO_MANY_STREAMS', message, { headers });
    }
  }

  /** Ends the processes that have been idle for longest. */
  function endOthers(): void {
    ending = null;
    for (const process of idle.splice(0, Math.max(0, idle.length - KEPT_IDLE))) void process.kill('stopped', 'not needed');
  }

  return {
    async take() {
      if (stopped) throw new EdgeError(503, 'STOPPING', 'the program is stopping');
      const taken = await permit();
      try {
        idle = idle.filter((process) => process.isAlive());
        const process = idle.pop() ?? (await start());
        inUse.set(process, taken);
        if (stopped) await process.kill('stopped', 'the program is stopping');
        return process;
      } catch (error) {
        taken[Symbol.dispose]();
        throw error;
      }
    },
    isAwaited: () => permits.isAwaited,
    release(process) {
      if (process.isAlive()) idle.push(process);
      inUse.get(process)?.[Symbol.dispose]();
      inUse.delete(process);
      if (idle.length > KEPT_IDLE) ending ??= setTimeout(endOthers, OTHERS_KEPT_MS).unref();
    },
    async stop() {
      stopped = true;
      if (ending !== null) clearTimeout(ending);
      await Promise.all([...inUse.keys(), ...idle].map((process) => process.kill('stopped', 'the program is stopping')));
    },
  };
}

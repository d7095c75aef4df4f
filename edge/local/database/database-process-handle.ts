import { type ChildProcess, fork } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { MEMORY_SIGNAL, TRANSACTION_SIGNAL } from './end-signals.ts';
import type { ProcessAnswer, ProcessRequest, RunOutcome } from './process-message.ts';

const ENTRY = fileURLToPath(new URL('./session/database-process.ts', import.meta.url));

/** A database process is gone, and with it whatever its connection had not committed. */
export class ProcessGone extends Error {
  override readonly name = 'ProcessGone';
  readonly reason: 'statement-deadline' | 'request-deadline' | 'transaction-deadline' | 'log-held' | 'memory' | 'ended' | 'stopped';

  constructor(reason: ProcessGone['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * One process that runs statements on one connection at a time. A process, not a thread: SQLite inside of Node cannot be interrupted, and
 * ending a thread waits until its statement is done.
 */
export interface DatabaseProcess {
  readonly isAlive: () => boolean;
  open(options: Omit<Extract<ProcessRequest, { kind: 'open' }>, 'kind'>): Promise<void>;
  /** Rejects with ProcessGone; it is past its deadline when a statement runs for `statementMs`, or all of it for `requestMs`. */
  run(
    options: Omit<Extract<ProcessRequest, { kind: 'run' }>, 'kind'>,
    deadlines: { readonly statementMs: number; readonly requestMs: number },
  ): Promise<RunOutcome>;
  /** Closes the connection; the process can open another, or has ended where it would begin with too much memory in use. */
  close(): Promise<void>;
  /** Ends the process at once; resolves when it has ended. */
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

export interface DatabaseProcessOptions {
  /** Where SQLite spills what does not fit into memory. */
  readonly tempDir: string;
  /** Resident memory beyond which the process is ended. */
  readonly memoryBytes: number;
  /** How long a transaction may be open while a request is worked on. */
  readonly transactionMs: number;
}

/** What a stream is told whose transaction was open for too long. */
export function transactionTimeout(transactionMs: number): ProcessGone {
  return new ProcessGone('transaction-deadline', `the transaction was open for longer than ${transactionMs} ms`);
}

/** Starts a database process; resolves when it can be used. */
export async function startDatabaseProcess({ tempDir, memoryBytes, transactionMs }: DatabaseProcessOptions): Promise<DatabaseProcess> {
  const child: ChildProcess = fork(ENTRY, [process.pid, memoryBytes, transactionMs].map(String), {
    serialization: 'advanced',
    // Neither the program's secrets nor its flags are the database's business.
    env: { SQLITE_TMPDIR: tempDir },
    execArgv: [],
    execPath: process.execPath,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
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
    if (signal === TRANSACTION_SIGNAL) return end(transactionTimeout(transactionMs));
    if (signal !== MEMORY_SIGNAL) return lost(signal ?? `status ${status}`);
    const allowed = `${Math.floor(memoryBytes / 1024 / 1024)} MiB`;
    end(new ProcessGone('memory', `the statement took more memory than is allowed (${allowed}) and was stopped`));
  });
  child.on('message', (answer: ProcessAnswer) => {
    if (answer.kind === 'statement') {
      pending?.onStatement?.();
      return;
    }
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

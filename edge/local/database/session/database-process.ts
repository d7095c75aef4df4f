import { readSync } from 'node:fs';
import process from 'node:process';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { LOCK_ANSWERS, LOCK_FD, type ProcessAnswer, type ProcessRequest, type RunOutcome, type RunRequest } from '../process-message.ts';
import { errorJson, type GivenSql, StatementError, type StreamPlan } from '../stream-plan.ts';
import { type Connection, openConnection } from './connection.ts';
import { runPlan } from './run-plan.ts';
import { ForbiddenWrite } from './statement-guard.ts';

/** How often the beginning of a statement is reported, in milliseconds. A deadline is that much too early at worst. */
const NOTE_EVERY_MS = 100;

let connection: Connection | null = null;
let notedAt = 0;
/** Shared with the watching thread; 1 while a request runs. */
const busy = new Int32Array(new SharedArrayBuffer(4));
/** Shared, too: the end of the open transaction's time, in nanoseconds of `process.hrtime`; 0 where none is open. */
const transactionEnd = new BigInt64Array(new SharedArrayBuffer(8));
const [program, memoryBytes, transactionMs = 0] = process.argv.slice(2).map(Number);

function tell(answer: ProcessAnswer): void {
  // The end of the program is noticed by 'disconnect'.
  process.send?.(answer, () => {});
}

function setBusy(isBusy: boolean): void {
  Atomics.store(busy, 0, isBusy ? 1 : 0);
  Atomics.notify(busy, 0);
}

function noteTransaction(isOpen: boolean): void {
  Atomics.store(transactionEnd, 0, isOpen ? process.hrtime.bigint() + BigInt(transactionMs) * 1_000_000n : 0n);
}

function noteStatement(): void {
  if (performance.now() - notedAt < NOTE_EVERY_MS) return;
  notedAt = performance.now();
  tell({ kind: 'statement' });
}

/** Waits until the first of those who wait to write may try again. Returns whether this process may. */
function waitForLock(): boolean {
  tell({ kind: 'locked' });
  const answer = new Uint8Array(1);
  readSync(LOCK_FD, answer);
  return answer[0] === LOCK_ANSWERS.tryAgain;
}

/** Throws StatementError for a text that is not stored. */
function textOf(sql: GivenSql, stored: RunRequest['stored']): string {
  if (typeof sql === 'string') return sql;
  const text = stored.get(sql.sqlId);
  if (text !== undefined) return text;
  throw new StatementError('SQL_NOT_FOUND', `${sql.path} is ${sql.sqlId}, and this stream has stored no such SQL text`);
}

function run(opened: Connection, request: RunRequest): RunOutcome {
  const { rows, bytes, stored } = request;
  const plan = deserialize(request.plan) as StreamPlan<GivenSql>;
  notedAt = performance.now();
  const outcome = (json: string, forbidden: RunOutcome['forbidden'] = null): RunOutcome => ({
    json,
    transactionMs: opened.transactionMs(),
    logIsHeld: opened.log.wasHeld(),
    keepsState: opened.db.isTransaction || opened.keepsState(),
    counters: opened.counters(),
    forbidden,
  });
  try {
    return outcome(runPlan(opened, plan, (sql) => textOf(sql, stored), { rows, bytes }, noteStatement));
  } catch (error) {
    if (error instanceof ForbiddenWrite) return outcome('', { code: error.code, message: error.message });
    if (error instanceof StatementError) return outcome(`{"type":"error","error":${errorJson(error)}}`);
    throw error;
  }
}

function answer(request: ProcessRequest): ProcessAnswer {
  switch (request.kind) {
    case 'open':
      connection = openConnection({
        ...request,
        onTransaction: noteTransaction,
        waitForLock,
        onUnlocked: () => tell({ kind: 'unlocked' }),
      });
      return { kind: 'done' };
    case 'run':
      if (connection === null) throw new Error('nothing is open');
      return { kind: 'ran', outcome: run(connection, request) };
    case 'close':
      noteTransaction(false);
      connection?.db.close();
      connection = null;
      return { kind: 'closed', rssBytes: process.memoryUsage.rss() };
  }
}

process.on('message', (request: ProcessRequest) => {
  setBusy(true);
  try {
    tell(answer(request));
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  } finally {
    setBusy(false);
  }
});
process.on('disconnect', () => process.exit(0));
// A terminal sends its signals to all processes of the group. The program ends its own processes itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

// A thread needs the main thread to start, so it starts before a statement that may never end.
const watch = new Worker(new URL('./process-watch.ts', import.meta.url), {
  workerData: { program, memoryBytes, busy, transactionEnd },
});
watch.once('message', () => tell({ kind: 'ready' }));
watch.unref();

import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { MEMORY_SIGNAL, TRANSACTION_SIGNAL } from '../end-signals.ts';

/** Between two looks while a statement runs: in so long, one can take some 50 MiB. */
const BUSY_EVERY_MS = 15;
const IDLE_EVERY_MS = 500;

interface WatchData {
  /** The program's process id; when it is no longer the parent's, the program is gone. */
  readonly program: number;
  /** Resident memory beyond which the process ends. */
  readonly memoryBytes: number;
  /** Its one element is 1 while a request is worked on. */
  readonly busy: Int32Array;
  /** Its one element is when the open transaction is ended, in nanoseconds of `process.hrtime`; 0 where none is open. */
  readonly transactionEnd: BigInt64Array;
}

/** Between two requests the program ends a transaction by itself, and keeps the process. */
function isOverdue(endsAt: bigint, isBusy: number): boolean {
  return isBusy === 1 && endsAt !== 0n && process.hrtime.bigint() >= endsAt;
}

/**
 * A thread beside the one that may be inside a statement for hours: when the program has been killed, nobody would end that one, and its
 * locks would outlive the program. SQLite inside of Node counts no memory, so this thread limits it, too; and the
 * program learns of a transaction only when the request that began it is done, so this thread ends one that is open for too long until
 * then.
 */
const { program, memoryBytes, busy, transactionEnd } = workerData as WatchData;
// 'online' comes before this module is read: a program killed in between would not be noticed.
parentPort?.postMessage('watching');
for (;;) {
  if (process.ppid !== program) process.kill(process.pid, 'SIGKILL');
  if (process.memoryUsage.rss() > memoryBytes) process.kill(process.pid, MEMORY_SIGNAL);
  const isBusy = Atomics.load(busy, 0);
  if (isOverdue(Atomics.load(transactionEnd, 0), isBusy)) process.kill(process.pid, TRANSACTION_SIGNAL);
  Atomics.wait(busy, 0, isBusy, isBusy === 1 ? BUSY_EVERY_MS : IDLE_EVERY_MS);
}

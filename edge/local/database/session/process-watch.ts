import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { MEMORY_SIGNAL, TRANSACTION_SIGNAL } from '../process-message.ts';

/** The time between two checks while a statement runs. In so long it can take some 50 MiB. */
const BUSY_EVERY_MS = 15;
const IDLE_EVERY_MS = 500;

interface WatchData {
  /** The program's process id. The program has ended when its parent's id is another one. */
  readonly program: number;
  /** The process ends when its resident memory is larger. */
  readonly memoryBytes: number;
  /** Its one element is 1 while a request runs. */
  readonly busy: Int32Array;
  /** Its one element is the end of the open transaction's time, in nanoseconds of `process.hrtime`; 0 where none is open. */
  readonly transactionEnd: BigInt64Array;
}

/** Between two requests the program ends a transaction itself and keeps the process. */
function isOverdue(endsAt: bigint, isBusy: number): boolean {
  return isBusy === 1 && endsAt !== 0n && process.hrtime.bigint() >= endsAt;
}

/**
 * Watches the main thread, which may be inside a statement for hours. When the program has been killed, this thread ends the process,
 * whose locks would outlive the program. SQLite inside of Node has no limit of its memory, so this thread enforces one. The program learns
 * of a transaction only after the request that began it, so this thread ends one that is open for too long before.
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

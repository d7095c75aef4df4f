import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { MEMORY_SIGNAL } from '../memory-signal.ts';

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
}

/**
 * A thread beside the one that may be inside a statement for hours: when the program has been killed, nobody would end that one, and its
 * locks would outlive the program. SQLite inside of Node counts no memory, so this thread limits it, too.
 */
const { program, memoryBytes, busy } = workerData as WatchData;
// 'online' comes before this module is read: a program killed in between would not be noticed.
parentPort?.postMessage('watching');
for (;;) {
  if (process.ppid !== program) process.kill(process.pid, 'SIGKILL');
  if (process.memoryUsage.rss() > memoryBytes) process.kill(process.pid, MEMORY_SIGNAL);
  const isBusy = Atomics.load(busy, 0);
  Atomics.wait(busy, 0, isBusy, isBusy === 1 ? BUSY_EVERY_MS : IDLE_EVERY_MS);
}

import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';

const LOOK_EVERY_MS = 500;

/**
 * A thread beside the one that may be inside a statement for hours: when the program has been killed, nobody would end that one, and its
 * locks would outlive the program. `workerData` is the program's process id; when it is no longer the parent's, the program is gone.
 */
const never = new Int32Array(new SharedArrayBuffer(4));
// 'online' comes before this module is read: a program killed in between would not be noticed.
parentPort?.postMessage('watching');
for (;;) {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
  Atomics.wait(never, 0, 0, LOOK_EVERY_MS);
}

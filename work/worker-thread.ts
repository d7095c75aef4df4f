import { existsSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { workerData } from 'piscina';
import type { WorkerModule, WorkerStart } from './worker-pool.ts';

// A thread of a `WorkerPool`.

/** A symbolic link to `PID/task/TID` of the thread that reads it. */
const THIS_THREAD = '/proc/thread-self';

const YIELDING = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * From here on this thread gets a tenth of a core where other threads want the core too, and all of it otherwise. Only Linux has priorities
 * of threads; elsewhere nothing changes.
 */
function yieldToOtherThreads(): void {
  if (!existsSync(THIS_THREAD)) {
    return;
  }
  const thread = Number(basename(readlinkSync(THIS_THREAD)));
  // A program that was started with a lower priority may not raise it.
  if (getPriority(thread) < YIELDING) {
    setPriority(thread, YIELDING);
  }
}

const { module, data, yields, stop } = workerData as WorkerStart;
if (yields) {
  yieldToOtherThreads();
}
const { startWork } = (await import(module)) as WorkerModule<unknown, unknown>;

export default await startWork(data, () => Atomics.load(stop, 0) !== 0);

import { existsSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

/** A symbolic link to `PID/task/TID` of whoever reads it. */
const THIS_THREAD = '/proc/thread-self';

const YIELDING = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * From here on the calling thread gets a tenth of a core where others want it, too, and all of it otherwise. Threads have priorities of
 * their own on Linux alone; elsewhere nothing changes.
 */
export function yieldToOtherThreads(): void {
  if (!existsSync(THIS_THREAD)) {
    return;
  }
  const thread = Number(basename(readlinkSync(THIS_THREAD)));
  // A program that was started with a lower one may not raise it.
  if (getPriority(thread) < YIELDING) {
    setPriority(thread, YIELDING);
  }
}

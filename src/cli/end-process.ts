import process from 'node:process';

const SHELL = '/bin/sh';

/**
 * Ends the process at once with this status. `process.exit` waits for every thread of libuv, and one that is in a long DuckDB statement or
 * reads from a disk that does not answer comes back late or never; what takes the process's place ends all of its threads.
 */
export function endProcess(status: number): void {
  // Only Windows has none.
  if (process.execve === undefined) process.exit(status);
  process.execve(SHELL, ['sh', '-c', `exit ${status}`], {});
}

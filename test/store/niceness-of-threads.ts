import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Only Linux has priorities of threads. */
export const threadsHavePriorities = existsSync('/proc/thread-self');

/** The niceness of each thread of this process by its number. Empty on other systems than Linux. */
export function nicenessOfThreads(): Map<string, number> {
  if (!threadsHavePriorities) {
    return new Map();
  }
  const stat = (thread: string) => readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
  // The third field follows the name, which may hold anything. Niceness is the nineteenth field.
  const niceness = (text: string) => Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  return new Map(readdirSync('/proc/self/task').map((thread) => [thread, niceness(stat(thread))]));
}

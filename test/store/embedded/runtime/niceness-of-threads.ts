import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Threads have priorities of their own on Linux alone. */
export const threadsHavePriorities = existsSync('/proc/thread-self');

/** Of each thread of this process by the number that Linux has for it: how far it stands back behind others. None elsewhere. */
export function nicenessOfThreads(): Map<string, number> {
  if (!threadsHavePriorities) {
    return new Map();
  }
  const stat = (thread: string) => readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
  // Behind the name, which may hold anything, come the third field and the others: niceness is the nineteenth.
  const niceness = (text: string) => Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  return new Map(readdirSync('/proc/self/task').map((thread) => [thread, niceness(stat(thread))]));
}

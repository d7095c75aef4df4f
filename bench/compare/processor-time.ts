import { readdir, readFile } from 'node:fs/promises';

/** The time that threads of a process have run, nanoseconds, by their numbers. */
export type ThreadTimes = ReadonlyMap<string, number>;

/** Of all threads that a process has now; undefined where the system has no `/proc` with these times, which Linux has. */
export async function threadTimes(pid: number): Promise<ThreadTimes | undefined> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => undefined);
  if (threads === undefined) return undefined;
  const times = await Promise.all(
    threads.map(async (thread) => {
      // A thread may have ended by now.
      const text = await readFile(`${folder}/${thread}/schedstat`, 'utf8').catch(() => '0');
      return [thread, Number(text.split(' ')[0])] as const;
    }),
  );
  return new Map(times);
}

/** The processor time between two moments in milliseconds. What a thread did that ended in between does not count. */
export function processorMs(before: ThreadTimes, after: ThreadTimes): number {
  const spent = [...after].map(([thread, time]) => Math.max(0, time - (before.get(thread) ?? 0)));
  return spent.reduce((sum, time) => sum + time, 0) / 1e6;
}

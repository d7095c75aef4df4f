import { expect, onTestFinished, test } from 'vitest';
import { WorkerPool } from '../../work/worker-pool.ts';
import { nicenessOfThreads, threadsHavePriorities } from '../store/niceness-of-threads.ts';

/** A pool whose first `times` threads fail to start. Tasks above 100 run inline; their answer is the negative number. */
function poolFailing(times: number, yields = false): WorkerPool<number, number, Int32Array> {
  const left = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  left[0] = times;
  const pool = new WorkerPool<number, number, Int32Array>({
    module: new URL('./sometimes-failing-worker.ts', import.meta.url),
    data: left,
    yields,
    inline: { fits: (task) => task > 100, run: (task) => -task },
  });
  onTestFinished(() => pool.close());
  return pool;
}

test('tasks run on a thread, small ones on the calling thread', async () => {
  const pool = poolFailing(0);
  expect(await Promise.all([1, 2, 101].map((task) => pool.run(task)))).toEqual([2, 3, -101]);
  expect(await pool.runInline(1)).toBe(-1);
});

test('a thread that cannot start fails its tasks, and nothing else; the next task starts another', async () => {
  const pool = poolFailing(1);
  const results = await Promise.allSettled([pool.run(1), pool.run(2), pool.run(102)]);
  const failed = { status: 'rejected', reason: { message: 'no room for a thread' } };
  expect(results).toMatchObject([failed, failed, { status: 'fulfilled', value: -102 }]);
  expect(await pool.run(3)).toBe(4);
});

test('a pool that is stopped gives up the task under way and those that would run inline', async () => {
  const pool = poolFailing(0);
  const running = pool.run(0);
  pool.stop();
  await expect(running).rejects.toThrow('given up');
  await expect(pool.runInline(1)).rejects.toThrow('aborted');
});

test.each([true, false])('threads leave the cores to others where they are to: %s', async (yields) => {
  const before = nicenessOfThreads();
  expect(await poolFailing(0, yields).run(1)).toBe(2);
  const started = [...nicenessOfThreads()].filter(([thread]) => !before.has(thread)).map(([, niceness]) => niceness);
  expect(started.includes(10)).toBe(yields && threadsHavePriorities);
});

test('a pool without a way to run inline says so', async () => {
  const module = new URL('./sometimes-failing-worker.ts', import.meta.url);
  await expect(new WorkerPool<number, number>({ module }).runInline(1)).rejects.toThrow(/sometimes-failing-worker.*run on threads only/);
});

import { describe, expect, onTestFinished, test } from 'vitest';
import { ThreadEnded, WorkerPool } from '../../work/worker-pool.ts';
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

test('a thread that cannot start fails its task, and nothing else; the next task starts another', async () => {
  const pool = poolFailing(1);
  const results = await Promise.allSettled([pool.run(1), pool.run(2), pool.run(102)]);
  const failed = { status: 'rejected', reason: expect.any(ThreadEnded) };
  expect(results).toMatchObject([failed, { status: 'fulfilled', value: 3 }, { status: 'fulfilled', value: -102 }]);
  expect(results[0]).toMatchObject({ reason: { cause: { message: 'no room for a thread' } } });
});

describe('a thread writes into memory that others have, too', () => {
  const module = new URL('./writing-worker.ts', import.meta.url);
  /** How often the tasks have written; then what the threads are to do: to end, to fail at their start. */
  const shared = (): Int32Array => new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  const [WRITTEN, ENDS, FAILS] = [0, 1, 2];

  function poolWriting(memory: Int32Array, maxThreads: number): WorkerPool<string, string, Int32Array> {
    const pool = new WorkerPool<string, string, Int32Array>({ module, data: memory, maxThreads });
    onTestFinished(() => pool.close());
    return pool;
  }

  test('and goes on with its task where another thread cannot start', async () => {
    const memory = shared();
    const pool = poolWriting(memory, 2);
    const writing = pool.run('write');
    await expect.poll(() => Atomics.load(memory, WRITTEN)).toBeGreaterThan(0);
    Atomics.store(memory, FAILS, 1);
    await expect(pool.run('answer')).rejects.toThrow(ThreadEnded);
    Atomics.store(memory, ENDS, 1);
    expect(await writing).toBe('written');
  });

  test('and its task rejects only once it writes no more, where the pool is closed', async () => {
    const memory = shared();
    const pool = poolWriting(memory, 1);
    const tasks = [pool.run('write'), pool.run('answer')];
    await expect.poll(() => Atomics.load(memory, WRITTEN)).toBeGreaterThan(0);
    const closed = pool.close();
    await expect(tasks[0]).rejects.toThrow(ThreadEnded);
    const written = Atomics.load(memory, WRITTEN);
    // It would write some million times, and wake whoever waits here.
    expect(Atomics.wait(memory, WRITTEN, written, 50)).toBe('timed-out');
    await expect(tasks[1]).rejects.toThrow(ThreadEnded);
    await closed;
    await expect(pool.run('answer')).rejects.toThrow(ThreadEnded);
  });

  test('and tasks behind one that ends its thread are carried out by another', async () => {
    const pool = poolWriting(shared(), 1);
    const [ended, ...others] = await Promise.allSettled(['end', 'answer', 'answer'].map((task) => pool.run(task)));
    expect(ended).toMatchObject({ status: 'rejected', reason: expect.any(ThreadEnded) });
    expect(others).toEqual(Array.from({ length: 2 }, () => ({ status: 'fulfilled', value: 'answered' })));
  });

  test('and a task that waits for a thread can be given up, and nobody else is', async () => {
    const memory = shared();
    const pool = poolWriting(memory, 1);
    const writing = pool.run('write');
    const leaving = new AbortController();
    const [left, stays] = [pool.run('answer', [], leaving.signal), pool.run('answer')];
    leaving.abort(new Error('it has left'));
    await expect(left).rejects.toThrow('it has left');
    Atomics.store(memory, ENDS, 1);
    expect(await Promise.all([writing, stays])).toEqual(['written', 'answered']);
  });
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

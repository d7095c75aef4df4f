import { expect, onTestFinished, test } from 'vitest';
import { BackgroundThread } from '../../../../store/embedded/runtime/background-thread.ts';

/** A thread that fails to start so many times. */
function failing(times: number): BackgroundThread<number, number> {
  const left = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  left[0] = times;
  const thread = new BackgroundThread<number, number>(new URL('./sometimes-failing-thread.ts', import.meta.url), left);
  onTestFinished(() => thread.close());
  return thread;
}

test('orders are carried out', async () => {
  const thread = failing(0);
  expect(await Promise.all([thread.run(1), thread.run(2)])).toEqual([2, 3]);
});

test('a thread that cannot start fails its orders, and nothing else; the next order starts another', async () => {
  const thread = failing(1);
  const results = await Promise.allSettled([thread.run(1), thread.run(2)]);
  const failed = { status: 'rejected', reason: { message: 'no room for a thread' } };
  expect(results).toMatchObject([failed, failed]);
  expect(await thread.run(3)).toBe(4);
});

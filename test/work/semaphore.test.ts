import { expect, test } from 'vitest';
import { Semaphore } from '../../work/semaphore.ts';

test('permits go to those who wait, in the order of their calls', async () => {
  const semaphore = new Semaphore(2);
  const permits = await Promise.all([semaphore.take(), semaphore.take()]);
  expect(semaphore.hasRoom).toBe(false);
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    const permit = await semaphore.take();
    order.push(number);
    return permit;
  });
  // Each counts once.
  for (const permit of [...permits, ...permits]) permit[Symbol.dispose]();
  permits.push(...(await Promise.all(waiting.slice(0, 2))));
  expect([order, semaphore.hasRoom]).toEqual([[1, 2], false]);
  for (const permit of permits) permit[Symbol.dispose]();
  permits.push(...(await Promise.all(waiting)));
  expect([order, semaphore.hasRoom]).toEqual([[1, 2, 3], true]);
  for (const permit of permits) permit[Symbol.dispose]();
  await expect(semaphore.take(AbortSignal.abort(new Error('it has left')))).rejects.toThrow('it has left');
});

test('a permit is there at once, or is not waited for', async () => {
  const semaphore = new Semaphore(1);
  const permit = semaphore.tryTake();
  expect([semaphore.tryTake(), semaphore.taken, semaphore.hasRoom]).toEqual([null, 1, false]);
  permit?.[Symbol.dispose]();
  expect([semaphore.taken, semaphore.hasRoom]).toEqual([0, true]);
});

test('the permit of one that leaves while it is given goes to the next', async () => {
  const semaphore = new Semaphore(1);
  const taken = await semaphore.take();
  const leaving = new AbortController();
  const left = semaphore.take(leaving.signal);
  const next = semaphore.take();
  leaving.abort(new Error('it has left'));
  taken[Symbol.dispose]();
  await expect(left).rejects.toThrow('it has left');
  (await next)[Symbol.dispose]();
  expect(semaphore.hasRoom).toBe(true);
});

import { expect, test } from 'vitest';
import { abortable } from '../../work/abortable.ts';

const gone = new Error('gone');

test('what ends before the signal aborts settles as it did', async () => {
  const { signal } = new AbortController();
  expect(await abortable(Promise.resolve(7), signal)).toBe(7);
  await expect(abortable(Promise.reject(gone), signal)).rejects.toBe(gone);
});

test('what is waited for when the signal aborts is given up, and what is given up may fail unnoticed', async () => {
  const stop = new AbortController();
  const work = Promise.withResolvers<void>();
  const waiting = abortable(work.promise, stop.signal);
  stop.abort(gone);
  await expect(waiting).rejects.toBe(gone);
  work.reject(new Error('too late'));
  await expect(abortable(Promise.reject(new Error('never looked at')), stop.signal)).rejects.toBe(gone);
});

import { expect, test } from 'vitest';
import { PendingAppends } from '../../../ingest/event/pending-appends.ts';
import type { AppendReceipt } from '../../../store/event-store.ts';

const receipt = (duplicates: number | null): AppendReceipt => ({ eventCount: 1, duplicates, deadLettersNotKept: [] });

function begun() {
  const { promise, resolve, reject } = Promise.withResolvers<AppendReceipt>();
  return { promise, resolve, reject };
}

test('three appends are under way, and a further one waits until the store has done with one of them', async () => {
  const window = new PendingAppends();
  const appends = [begun(), begun(), begun()];
  const settled: number[] = [];
  for (const [index, { promise }] of appends.entries()) {
    expect(window.hasRoom).toBe(true);
    await window.room();
    window.add(promise, { onSettled: () => settled.push(index) });
  }
  expect(window.hasRoom).toBe(false);
  let hasRoom = false;
  const room = window.room().then(() => {
    hasRoom = true;
  });
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  appends[1]?.resolve(receipt(0));
  await room;
  expect([settled, window.hasRoom]).toEqual([[1], true]);
  for (const { resolve } of appends) resolve(receipt(0));
  await window.drained();
  expect(settled.toSorted()).toEqual([0, 1, 2]);
});

test.each([
  ['are added up', [receipt(2), receipt(0), receipt(3)], 5],
  ['are not known where one batch does not tell', [receipt(2), receipt(null), receipt(3)], null],
])('the duplicates of the stored batches %s', async (_what, receipts, duplicates) => {
  const window = new PendingAppends();
  const stored: AppendReceipt[] = [];
  for (const one of receipts) window.add(Promise.resolve(one), { onStored: (got) => stored.push(got), onSettled: () => {} });
  await window.drained();
  expect([window.duplicates, stored]).toEqual([duplicates, receipts]);
});

test('an append that fails is told by room and drained, unless it has somebody of its own to tell', async () => {
  const told: string[] = [];
  const window = new PendingAppends();
  window.add(Promise.reject(new Error('one')), { onFailed: ({ message }) => told.push(message), onSettled: () => told.push('settled') });
  await window.drained();
  expect(told).toEqual(['one', 'settled']);
  window.add(Promise.reject(new Error('two')), { onSettled: () => {} });
  await expect(window.drained()).rejects.toThrow('two');
  await expect(window.room()).rejects.toThrow('two');
});

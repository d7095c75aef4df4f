import { expect, test } from 'vitest';
import { emptyList, listWords, withDropped, withPause, withRows } from '../../../web/live/live-list.ts';

test('has the newest first, and no more than its bound', () => {
  const list = withRows(withRows(emptyList<number>(3), [1, 2]), [3, 4]);
  expect([list.shown, list.seen]).toEqual([[4, 3, 2], 4]);
  expect(withRows(list, [5, 6, 7, 8, 9]).shown).toEqual([9, 8, 7]);
});

test('stands still while it is paused, and then goes on with what came in', () => {
  const paused = withRows(withRows(withPause(withRows(emptyList<number>(3), [1, 2]), true), [3]), [4]);
  expect([paused.shown, paused.waiting, paused.waitingCount]).toEqual([[2, 1], [4, 3], 2]);
  const after = withPause(paused, false);
  expect([after.shown, after.waiting, after.waitingCount, after.seen]).toEqual([[4, 3, 2], [], 0, 4]);
});

test('counts what came in during a pause beyond what it keeps', () => {
  const paused = withRows(withPause(emptyList<number>(2), true), [1, 2, 3, 4, 5]);
  expect([paused.waiting, paused.waitingCount]).toEqual([[5, 4], 5]);
});

test('says what is missing and why', () => {
  const list = withDropped(withDropped(withDropped(withRows(emptyList<number>(9), [1]), 1_000, 'unread'), 234, 'unread'), 5, 'costly');
  expect(listWords(list).split('; ')).toEqual([
    '1 events',
    '1,234 left out, because this page did not read fast enough',
    '5 left out, because trying the conditions on them costs too much',
  ]);
  expect(listWords(withRows(withPause(emptyList<number>(9), true), [1, 2]))).toBe('2 events; paused, 2 new');
});

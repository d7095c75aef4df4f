import { expect, test } from 'vitest';
import {
  type Arrivals,
  cleared,
  emptyList,
  type LiveList,
  listWords,
  rateOf,
  unwatchedWords,
  withArrivals,
  withDropped,
  withPause,
  withRows,
  withUnwatched,
} from '../../../web/live/live-list.ts';

const rowsOf = (...ids: readonly number[]) =>
  ids.map((id) => ({ logId: String(id), timestamp: id, shieldZoneId: 7, fields: {}, logText: '1234567890' }));

const start = (rows: number, characters = 1_000): LiveList => emptyList({ rows, characters });

const ids = (rows: LiveList['shown']): readonly number[] => rows.map(({ logId }) => Number(logId));

test('has the newest first, and no more than its bound', () => {
  const list = withRows(withRows(start(3), rowsOf(1, 2)), rowsOf(3, 4));
  expect([ids(list.shown), list.seen]).toEqual([[4, 3, 2], 4]);
  expect(ids(withRows(list, rowsOf(5, 6, 7, 8, 9)).shown)).toEqual([9, 8, 7]);
});

test('has less rows where their logs are long, and at least the newest', () => {
  expect(ids(withRows(start(9, 25), rowsOf(1, 2, 3, 4)).shown)).toEqual([4, 3]);
  expect(ids(withRows(start(9, 5), rowsOf(1, 2)).shown)).toEqual([2]);
});

test('stands still while it is paused, and then goes on with what came in', () => {
  const paused = withRows(withRows(withPause(withRows(start(3), rowsOf(1, 2)), true), rowsOf(3)), rowsOf(4));
  expect([ids(paused.shown), ids(paused.waiting), paused.waitingCount]).toEqual([[2, 1], [4, 3], 2]);
  const after = withPause(paused, false);
  expect([ids(after.shown), after.waiting, after.waitingCount, after.seen]).toEqual([[4, 3, 2], [], 0, 4]);
});

test('counts what came in during a pause beyond what it keeps', () => {
  const paused = withRows(withPause(start(2), true), rowsOf(1, 2, 3, 4, 5));
  expect([ids(paused.waiting), paused.waitingCount]).toEqual([[5, 4], 5]);
});

test('says what is missing and why', () => {
  const list = withDropped(withDropped(withDropped(withRows(start(9), rowsOf(1)), 1_000, 'unread'), 234, 'unread'), 5, 'costly');
  expect(listWords(list).split('; ')).toEqual([
    '1 event',
    '1,234 left out, because this page did not read fast enough',
    '5 left out, because trying the conditions on them costs too much',
  ]);
  expect(listWords(withRows(withPause(start(9), true), rowsOf(1, 2)))).toBe('2 events; paused, 2 new');
});

test('says when nothing was watched, and nothing of it where that is not so', () => {
  const words = (list: LiveList) => unwatchedWords(list, (ms) => `${ms} ms`);
  const once = withUnwatched(withRows(start(9), rowsOf(1)), { from: 2, to: 30 });
  expect([words(start(9)), words(once), words(withUnwatched(once, { from: 40, to: 50 }))]).toEqual([
    '',
    '; nothing was watched from 2 ms to 30 ms',
    '; nothing was watched from 2 ms to 30 ms, from 40 ms to 50 ms',
  ]);
  expect(ids(once.shown)).toEqual([1]);
});

test('tells by how many lines its rows have moved down, those of a pause when they are shown', () => {
  const shown = withRows(withRows(start(3), rowsOf(1, 2)), rowsOf(3, 4));
  expect(shown.moved).toBe(4);
  const paused = withRows(withPause(shown, true), rowsOf(5, 6, 7, 8));
  expect(paused.moved).toBe(4);
  // Of four that came in the pause three are kept.
  expect(withPause(paused, false).moved).toBe(7);
});

test('is emptied, and goes on as it was: paused or not', () => {
  const list = withUnwatched(withDropped(withRows(start(9), rowsOf(1, 2)), 3, 'costly'), { from: 1, to: 2 });
  expect(cleared(list)).toEqual(start(9));
  expect(cleared(withRows(withPause(list, true), rowsOf(3)))).toEqual(withPause(start(9), true));
});

test.each<[what: string, arrivals: readonly Arrivals[], rate: number]>([
  ['before anything is known', [], 0],
  ['at the first moment', [{ at: 5, count: 7 }], 0],
  [
    'over less than ten seconds',
    [
      { at: 0, count: 0 },
      { at: 2_000, count: 5 },
    ],
    2.5,
  ],
  [
    'when no more come',
    [
      { at: 0, count: 9 },
      { at: 9_000, count: 9 },
    ],
    0,
  ],
])('events a second %s', (_what, arrivals, rate) => {
  expect(rateOf(arrivals)).toBe(rate);
});

test('events a second are those of the last ten, however seldom they are counted', () => {
  const count = (times: readonly number[]): readonly Arrivals[] =>
    times.reduce<readonly Arrivals[]>((earlier, at) => withArrivals(earlier, { at, count: at < 10_000 ? at / 10 : 1_000 }), []);
  const everySecond = Array.from({ length: 31 }, (_, second) => second * 1_000);
  expect(rateOf(count(everySecond.slice(0, 11)))).toBe(100);
  expect(rateOf(count(everySecond.slice(0, 16)))).toBe(50);
  expect(rateOf(count(everySecond))).toBe(0);
  // A tab that was hidden is counted a minute later.
  expect(count([0, 1_000, 61_000])).toEqual([{ at: 61_000, count: 1_000 }]);
});

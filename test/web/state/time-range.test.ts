import { describe, expect, test } from 'vitest';
import {
  earlierRange,
  laterRange,
  REACH_MS,
  rangeAround,
  type TimeRange,
  widerRange,
  windowOfRange,
} from '../../../web/state/time-range.ts';

const NOW = 1_795_514_400_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EARLIEST = NOW - REACH_MS + 10 * MINUTE;

const last = (minutes: number): TimeRange => ({ kind: 'last', minutes });
/** A range by its begin and end before now, in milliseconds. */
const ago = (from: number, to: number): TimeRange => ({ kind: 'between', from: NOW - from, to: NOW - to });

describe('beside a range', () => {
  test.each<[string, TimeRange, TimeRange | null, TimeRange | null]>([
    ['up to now', last(60), ago(2 * HOUR, HOUR), null],
    ['between two times', ago(3 * HOUR, 2 * HOUR), ago(4 * HOUR, 3 * HOUR), ago(2 * HOUR, HOUR)],
    ['a little before now', ago(90 * MINUTE, 30 * MINUTE), ago(150 * MINUTE, 90 * MINUTE), last(60)],
    ['a little before now, of no whole minutes', ago(90_500, 30_000), ago(151_000, 90_500), ago(60_500, 0)],
    ['that was the last hour a moment ago', ago(2 * HOUR + 5_000, HOUR + 5_000), ago(3 * HOUR + 5_000, 2 * HOUR + 5_000), last(60)],
    ['right after which now is', ago(2 * HOUR, HOUR), ago(3 * HOUR, 2 * HOUR), last(60)],
    [
      'near the earliest',
      { kind: 'between', from: EARLIEST + 1, to: EARLIEST + HOUR },
      { kind: 'between', from: EARLIEST, to: EARLIEST + HOUR - 1 },
      { kind: 'between', from: EARLIEST + HOUR, to: EARLIEST + 2 * HOUR - 1 },
    ],
    ['of all that is kept', last(72 * 60), null, null],
  ])('%s are an earlier and a later one of its length', (_what, range, earlier, later) => {
    expect([earlierRange(range, NOW), laterRange(range, NOW)]).toEqual([earlier, later]);
  });
});

describe('around a range', () => {
  test.each<[string, TimeRange, TimeRange | null]>([
    ['up to now', last(15), last(30)],
    ['up to now of two days', last(48 * 60), last(72 * 60)],
    ['of all that is kept', last(72 * 60), null],
    ['between two times', ago(3 * HOUR, 2 * HOUR), ago(3.5 * HOUR, 1.5 * HOUR)],
    ['of a millisecond', ago(HOUR, HOUR - 1), ago(HOUR + 1, HOUR - 2)],
    ['that ends now', ago(2 * HOUR, 0), ago(4 * HOUR, 0)],
    [
      'from the earliest',
      { kind: 'between', from: EARLIEST, to: EARLIEST + HOUR },
      { kind: 'between', from: EARLIEST, to: EARLIEST + 1.5 * HOUR },
    ],
    ['from the earliest up to now', { kind: 'between', from: EARLIEST, to: NOW }, null],
  ])('%s is one of twice its length, as far as searches reach', (_what, range, wider) => {
    expect(widerRange(range, NOW)).toEqual(wider);
  });
});

describe('around an event', () => {
  test.each([
    ['an hour ago', NOW - HOUR, [NOW - HOUR - 7.5 * MINUTE, NOW - HOUR + 7.5 * MINUTE]],
    ['of now', NOW, [NOW - 7.5 * MINUTE, NOW]],
    ['of a sender whose clock is ahead', NOW + 9 * MINUTE, [NOW - 7.5 * MINUTE, NOW]],
    ['that is about to be too old', NOW - REACH_MS + MINUTE, [NOW - REACH_MS, NOW - REACH_MS + 8.5 * MINUTE]],
  ])('%s is a quarter of an hour', (_what, timestamp, [from, to]) => {
    expect(windowOfRange(rangeAround(timestamp, NOW), NOW)).toEqual({ from, to });
  });
});

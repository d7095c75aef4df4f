import { describe, expect, test } from 'vitest';
import type { Window } from '../../../web/api/explore.ts';
import { nearestBucket, stretchOf, wholeBuckets } from '../../../web/overview/stacked-bars.ts';
import { barWidth } from '../../../web/state/bucket-widths.ts';

const NOW = 1_795_514_400_000;

/** The bars of a window, as the program answers them. */
function barsOf(window: Window) {
  const width = barWidth(window);
  const [first, end] = [Math.floor(window.from / width), Math.ceil(window.to / width)];
  return { from: first * width, to: end * width, buckets: end - first };
}

const WINDOWS: readonly (readonly [string, Window])[] = [
  ['a millisecond', { from: NOW - 1, to: NOW }],
  ['a millisecond of a bar', { from: NOW - 501, to: NOW - 500 }],
  ['two bars, both in part', { from: NOW - 700, to: NOW + 300 }],
  ['whole bars', { from: NOW - 1_000, to: NOW }],
  ['15 minutes', { from: NOW - 900_123, to: NOW - 123 }],
  ['a day less a millisecond', { from: NOW - 86_399_999, to: NOW }],
];

describe('of a window of', () => {
  test.each(WINDOWS)('%s the bars have the milliseconds that are counted in them, and none outside', (_what, window) => {
    const histogram = barsOf(window);
    let behind = window.from;
    for (let bucket = 0; bucket < histogram.buckets; bucket += 1) {
      const { from, to } = stretchOf(histogram, window, bucket, bucket + 1);
      expect([from, nearestBucket(histogram, from), nearestBucket(histogram, to - 1)]).toEqual([behind, bucket, bucket]);
      behind = to;
    }
    expect(behind).toBe(window.to);
  });

  test.each(WINDOWS)('%s those bars are whole that the window does not cut', (_what, window) => {
    const histogram = barsOf(window);
    const { first, end } = wholeBuckets(histogram, window);
    const width = barWidth(window);
    for (let bucket = 0; bucket < histogram.buckets; bucket += 1) {
      const { from, to } = stretchOf(histogram, window, bucket, bucket + 1);
      expect([bucket, bucket >= first && bucket < end]).toEqual([bucket, to - from === width]);
    }
  });
});

test.each(['first', 'last'])('a bar can be looked into again and again until it is a second (the %s one)', (which) => {
  let window: Window = { from: NOW - 43_200_000, to: NOW };
  for (let step = 0; step < 8; step += 1) {
    const histogram = barsOf(window);
    const bucket = which === 'first' ? 0 : histogram.buckets - 1;
    window = stretchOf(histogram, window, bucket, bucket + 1);
    expect(window.to).toBeGreaterThan(window.from);
  }
  expect(window.to - window.from).toBe(1_000);
});

test.each([
  ['before the window', -1_000, 0],
  ['between two milliseconds of the first bucket', 2.9, 0],
  ['at the begin of the second', 3, 1],
  ['between its last millisecond and the third', 4.9, 1],
  ['at the end of the window', 7, 2],
  ['long after it', 1_000, 2],
])('a time %s is nearest to a bucket', (_, ms, bucket) => {
  expect(nearestBucket({ from: NOW, to: NOW + 7, buckets: 3 }, NOW + ms)).toBe(bucket);
});

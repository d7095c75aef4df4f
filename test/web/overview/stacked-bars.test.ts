import { describe, expect, test } from 'vitest';
import type { Window } from '../../../web/api/explore.ts';
import { nearestBucket, stretchOf } from '../../../web/overview/stacked-bars.ts';
import { bucketsOf } from '../../../web/state/bucket-widths.ts';

const NOW = 1_795_514_400_000;

const divided = (window: Window) => ({ ...window, buckets: bucketsOf(window) });

describe('the stretch of a bucket', () => {
  test.each([1, 2, 7, 121, 1_000, 86_399_999])('of %d ms has the whole milliseconds that are counted in it', (ms) => {
    const histogram = divided({ from: NOW - ms, to: NOW });
    let behind = histogram.from;
    for (let bucket = 0; bucket < histogram.buckets; bucket += 1) {
      const { from, to } = stretchOf(histogram, bucket, bucket + 1);
      expect([from, nearestBucket(histogram, from), nearestBucket(histogram, to - 1)]).toEqual([behind, bucket, bucket]);
      behind = to;
    }
    expect(behind).toBe(histogram.to);
  });

  test.each(['first', 'last'])('can be looked into again and again until it is a millisecond (the %s one)', (which) => {
    let window: Window = { from: NOW - 43_200_000, to: NOW };
    for (let step = 0; step < 8; step += 1) {
      const histogram = divided(window);
      const bucket = which === 'first' ? 0 : histogram.buckets - 1;
      window = stretchOf(histogram, bucket, bucket + 1);
      expect(window.to).toBeGreaterThan(window.from);
    }
    expect(window.to - window.from).toBe(1);
  });
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

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketAt, bucketStart, type DividedWindow } from '../../query/buckets.ts';
import { assertProperty } from '../random/assert-property.ts';

const FROM = 1_795_514_400_000;

/** The number of the bucket of each millisecond of a window. */
function bucketsOfMilliseconds(widthMs: number, buckets: number): readonly number[] {
  const divided = { from: FROM, to: FROM + widthMs, buckets };
  return Array.from({ length: widthMs }, (_, ms) => bucketAt(divided, FROM + ms));
}

function starts(divided: DividedWindow): readonly number[] {
  return Array.from({ length: divided.buckets + 1 }, (_, bucket) => bucketStart(divided, bucket) - FROM);
}

describe('a window', () => {
  test.each([
    ['of one bucket', 3, 1, [0, 0, 0], [0, 3]],
    ['that is divided evenly', 6, 3, [0, 0, 1, 1, 2, 2], [0, 2, 4, 6]],
    ['whose buckets begin between two milliseconds', 7, 3, [0, 0, 0, 1, 1, 2, 2], [0, 3, 5, 7]],
    ['of as many milliseconds as buckets', 3, 3, [0, 1, 2], [0, 1, 2, 3]],
    ['of fewer milliseconds than buckets', 2, 4, [0, 2], [0, 1, 1, 2, 2]],
    ['of one millisecond', 1, 3, [0], [0, 1, 1, 1]],
  ])('%s', (_, widthMs, buckets, numbers, begins) => {
    expect(bucketsOfMilliseconds(widthMs, buckets)).toEqual(numbers);
    expect(starts({ from: FROM, to: FROM + widthMs, buckets })).toEqual(begins);
  });

  test('of any length has its last millisecond in the last bucket, where a product of the two is no exact number either', () => {
    const divided = { from: 0, to: Number.MAX_SAFE_INTEGER, buckets: 500 };
    expect(bucketAt(divided, divided.to - 1)).toBe(499);
    expect(bucketStart(divided, 499)).toBe(8_989_184_856_231_510);
    expect([8_989_184_856_231_509, 8_989_184_856_231_510].map((time) => bucketAt(divided, time))).toEqual([498, 499]);
  });
});

test('a bucket has exactly the milliseconds from its begin to before that of the next', () => {
  const divided = fc
    .record({
      from: fc.integer({ min: 0, max: 4e12 }),
      width: fc.integer({ min: 1, max: 300_000_000 }),
      buckets: fc.integer({ min: 1, max: 500 }),
    })
    .map(({ from, width, buckets }) => ({ from, to: from + width, buckets }));
  assertProperty(
    fc.property(divided, fc.nat({ max: 499 }), (window, drawn) => {
      const bucket = drawn % window.buckets;
      const [begin, end] = [bucketStart(window, bucket), bucketStart(window, bucket + 1)];
      expect([bucketStart(window, 0), bucketStart(window, window.buckets)]).toEqual([window.from, window.to]);
      expect(end).toBeGreaterThanOrEqual(begin);
      if (begin > window.from) expect(bucketAt(window, begin - 1)).toBeLessThan(bucket);
      if (end < window.to) expect(bucketAt(window, end)).toBeGreaterThan(bucket);
      if (end > begin) expect([begin, end - 1].map((time) => bucketAt(window, time))).toEqual([bucket, bucket]);
    }),
  );
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketOf } from '../../query/buckets.ts';

describe('sparkline buckets', () => {
  it.each([
    ['the first millisecond', 0, 0],
    ['the last of the first third', 3, 0],
    ['the first of the second third', 4, 1],
    ['the first of the last third', 7, 2],
    ['the last millisecond', 9, 2],
  ])('of ten milliseconds in three buckets, %s lies in the right one', (_, offset, bucket) => {
    expect(bucketOf(1000 + offset, { fromMs: 1000, toMs: 1010 }, 3)).toBe(bucket);
  });

  it('has empty buckets where there are more of them than milliseconds', () => {
    expect([0, 1, 2].map((offset) => bucketOf(offset, { fromMs: 0, toMs: 3 }, 7))).toEqual([0, 2, 4]);
  });

  it('is exact over windows up to the longest one', () => {
    const widths = fc.integer({ min: 1, max: 72 * 3_600_000 + 120_000 });
    fc.assert(
      fc.property(widths, fc.integer({ min: 1, max: 500 }), fc.double({ min: 0, max: 1, noNaN: true }), (width, buckets, share) => {
        const fromMs = 1_790_000_000_000;
        const offset = Math.min(width - 1, Math.floor(share * width));
        const exact = (BigInt(offset) * BigInt(buckets)) / BigInt(width);
        expect(bucketOf(fromMs + offset, { fromMs, toMs: fromMs + width }, buckets)).toBe(Number(exact));
      }),
    );
  });
});

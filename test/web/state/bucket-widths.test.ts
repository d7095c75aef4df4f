import { describe, expect, test } from 'vitest';
import { bucketsOf } from '../../../web/state/bucket-widths.ts';
import { PRESET_MINUTES } from '../../../web/state/time-range.ts';

const NOW = 1_795_514_400_000;
const MINUTE = 60_000;

describe('the buckets of the histogram', () => {
  test.each(PRESET_MINUTES)('of the last %d minutes are as wide as people count', (minutes) => {
    const buckets = bucketsOf({ from: NOW - minutes * MINUTE, to: NOW });
    expect(buckets).toBeGreaterThanOrEqual(72);
    expect(buckets).toBeLessThanOrEqual(180);
    expect([5, 10, 30, 60, 120, 300, 600, 1200, 1800]).toContain((minutes * 60) / buckets);
  });

  test('are no more than the milliseconds', () => {
    expect([1, 2, 119, 121].map((ms) => bucketsOf({ from: NOW - ms, to: NOW }))).toEqual([1, 2, 119, 120]);
  });

  test('of any other time are 120', () => {
    expect(bucketsOf({ from: NOW - 1_234_567, to: NOW })).toBe(120);
  });
});

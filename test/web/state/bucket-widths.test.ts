import { describe, expect, test } from 'vitest';
import { barWidth } from '../../../web/state/bucket-widths.ts';
import { PRESET_MINUTES } from '../../../web/state/time-range.ts';

const NOW = 1_795_514_400_000;
const MINUTE = 60_000;

/** How many bars a window has: two of them may be cut. */
function barsOf(from: number, to: number): number {
  const width = barWidth({ from, to });
  return Math.ceil(to / width) - Math.floor(from / width);
}

describe('the bars of the histogram', () => {
  test.each(PRESET_MINUTES)(
    'of the last %d minutes are many and at most 180, as wide as people count, wherever the window begins',
    (minutes) => {
      const width = barWidth({ from: NOW - minutes * MINUTE, to: NOW });
      expect(3_600_000 % width).toBe(0);
      for (const shift of [0, 1, 999, 1_000, width / 2, width - 1]) {
        const bars = barsOf(NOW + shift - minutes * MINUTE, NOW + shift);
        expect(barWidth({ from: NOW + shift - minutes * MINUTE, to: NOW + shift })).toBe(width);
        expect(bars).toBeGreaterThanOrEqual(72);
        expect(bars).toBeLessThanOrEqual(180);
      }
    },
  );

  test.each([
    [1, 1_000],
    [999, 1_000],
    [178_000, 1_000],
    [179_000, 1_000],
    [179_001, 2_000],
    [72 * 60 * MINUTE, 1_800_000],
  ])('of %d ms are %d ms wide', (length, width) => {
    expect(barWidth({ from: NOW - length, to: NOW })).toBe(width);
    expect(barsOf(NOW - 1 - length, NOW - 1)).toBeLessThanOrEqual(180);
  });
});

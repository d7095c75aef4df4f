import { expect, test } from 'vitest';
import { percentile } from '../../../bench/report/figures.ts';

test.each([
  [[5], 0.5, 5],
  [[3, 1, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.5, 2],
  [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95],
  [[1, 2, 3], 1, 3],
  [[1, 2, 3], 0, 1],
  [[], 0.5, Number.NaN],
])('of %j, %d: %d', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});

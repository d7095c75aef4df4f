import { expect, test } from 'vitest';
import { fittedLogScale, linearScale, logScale, positionOn } from '../../../../bench/report/page/plots.ts';

test.each([
  ['within one decade', [3, 7], 1, 10, [1, 10]],
  ['over several decades', [3, 720], 1, 720, [1, 10, 100]],
  ['so small that its bar would have no length', [1, 50], 0.1, 50, [0.1, 1, 10]],
  ['below 1', [0.05, 2], 0.01, 2, [0.01, 0.1, 1]],
  ['with what has no logarithm', [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 20], 10, 100, [10, 100]],
  ['none', [], 1, 10, [1, 10]],
])('a logarithmic scale of values %s', (_, values, low, high, ticks) => {
  const scale = logScale(values);
  expect({ low: scale.low, high: scale.high }).toEqual({ low, high });
  expect(scale.ticks).toHaveLength(ticks.length);
  for (const [index, tick] of ticks.entries()) {
    expect(scale.ticks[index]).toBeCloseTo(tick, 9);
  }
});

test.each([
  ['below a round number', [92, 51], 100, [0, 20, 40, 60, 80, 100]],
  ['at a round number', [100], 100, [0, 20, 40, 60, 80, 100]],
  ['above one', [129_936], 150_000, [0, 50_000, 100_000, 150_000]],
  ['of zero', [0], 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  ['none', [], 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
])('a linear scale of values %s', (_, values, high, ticks) => {
  const scale = linearScale(values);
  expect(scale.high).toBeCloseTo(high, 9);
  expect(scale.ticks.map((tick) => Number(tick.toFixed(9)))).toEqual(ticks);
});

test.each([
  ['the middle of a logarithmic scale', fittedLogScale([1, 100]), 10, 0.5],
  ['the middle of a linear scale', linearScale([100]), 50, 0.5],
  ['the low end for what is below', fittedLogScale([1, 100]), 0, 0],
  ['the high end for what is above', fittedLogScale([1, 100]), 1000, 1],
  ['the low end for what is unknown', linearScale([100]), Number.NaN, 0],
  ['the low end of a scale without extent', fittedLogScale([16]), 16, 0],
])('the position is %s', (_, scale, value, position) => {
  expect(positionOn(scale, value)).toBeCloseTo(position, 9);
});

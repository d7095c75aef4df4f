import { expect, test } from 'vitest';
import { ClosedWindows } from '../../alerts/closed-windows.ts';

const STEP = 30;

const closedOf = (...begins: readonly number[]) => {
  const closed = new ClosedWindows(STEP);
  for (const begin of begins) closed.add(begin);
  return closed;
};

test.each([
  ['none', [], []],
  ['one', [60], [[60, 60]]],
  ['neighbours in any order', [90, 30, 60], [[30, 90]]],
  [
    'two apart',
    [30, 120],
    [
      [30, 30],
      [120, 120],
    ],
  ],
  ['one between two', [30, 90, 60], [[30, 90]]],
  ['one twice', [30, 30], [[30, 30]]],
  ['before 1970', [-60, -30, 0], [[-60, 0]]],
])('closed windows are ranges: %s', (_what, begins, expected) => {
  const closed = closedOf(...begins);
  expect(closed.ranges.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual(expected);
  for (let begin = -120; begin <= 180; begin += STEP) expect(closed.has(begin)).toBe((begins as readonly number[]).includes(begin));
});

test.each([
  [
    -1,
    [
      [0, 120],
      [180, 180],
    ],
  ],
  [
    0,
    [
      [30, 120],
      [180, 180],
    ],
  ],
  [
    59,
    [
      [60, 120],
      [180, 180],
    ],
  ],
  [
    60,
    [
      [90, 120],
      [180, 180],
    ],
  ],
  [120, [[180, 180]]],
  [200, []],
])('those up to %i are forgotten', (until, expected) => {
  const closed = closedOf(0, 30, 60, 90, 120, 180);
  closed.forget(until);
  expect(closed.ranges.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual(expected);
});

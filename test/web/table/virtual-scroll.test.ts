import { describe, expect, test } from 'vitest';
import { lineAfterKey, linesInView, MAX_SCROLL_PX, mostLines, scrollTopFor } from '../../../web/table/virtual-scroll.ts';

const VIEW = { scrollTopPx: 0, viewportPx: 100, rowPx: 30, count: 1_000 };

test('as many lines as the highest table holds', () => {
  expect(mostLines(30)).toBe(200_000);
  expect(mostLines(29) * 29).toBeLessThanOrEqual(MAX_SCROLL_PX);
});

describe('the lines in view', () => {
  test.each([
    ['at the top', { scrollTopPx: 0 }, 0, { first: 0, end: 4 }],
    ['with some beyond', { scrollTopPx: 0 }, 3, { first: 0, end: 7 }],
    ['in the middle of a line', { scrollTopPx: 45 }, 0, { first: 1, end: 5 }],
    ['at the end', { scrollTopPx: 29_900 }, 2, { first: 994, end: 1_000 }],
    ['pulled beyond the end', { scrollTopPx: 90_000 }, 0, { first: 996, end: 1_000 }],
    ['pulled above the top', { scrollTopPx: -50 }, 0, { first: 0, end: 4 }],
    ['of few lines', { count: 2 }, 5, { first: 0, end: 2 }],
    ['of none', { count: 0 }, 5, { first: 0, end: 0 }],
  ])('%s', (_where, view, beyond, range) => {
    expect(linesInView({ ...VIEW, ...view }, beyond)).toEqual(range);
  });
});

test.each([
  [0, 300, 0],
  [10, 300, 300],
  [11, 300, 300],
  [13, 300, 320],
  [999, 0, 29_900],
])('line %i is wholly in view from %i px on at %i px', (index, scrollTopPx, expected) => {
  expect(scrollTopFor(index, { ...VIEW, scrollTopPx })).toBe(expected);
});

test.each([
  ['ArrowDown', 5, 6],
  ['ArrowDown', 999, 999],
  ['ArrowUp', 0, 0],
  ['PageDown', 5, 7],
  ['PageUp', 1, 0],
  ['Home', 500, 0],
  ['End', 500, 999],
  ['toString', 5, null],
  ['Enter', 5, null],
])('%s on line %i goes to %j', (key, index, expected) => {
  expect(lineAfterKey(key, index, VIEW)).toBe(expected);
});

test('a table without lines has none to go to', () => {
  expect(lineAfterKey('End', 0, { ...VIEW, count: 0 })).toBeNull();
});

import { expect, test } from 'vitest';
import { disjointRanges, locatePage, slotRange, slotsOf } from '../../../../store/embedded/search/page-location.ts';

const range = (fromMs: number, toMs: number, events: number) => ({ fromMs, toMs, events });
const THREE = [range(0, 10, 5), range(10, 20, 3), range(30, 40, 2)];

test.each([
  ['the first page lies in the newest range', 0, 2, { fromMs: 30, toMs: 40, events: 2, skip: 0 }],
  ['a page that is longer takes the next one in', 0, 3, { fromMs: 10, toMs: 40, events: 5, skip: 0 }],
  ['a page can begin within a range', 1, 2, { fromMs: 10, toMs: 40, events: 5, skip: 1 }],
  ['a page leaves out the ranges that are newer', 2, 3, { fromMs: 10, toMs: 20, events: 3, skip: 0 }],
  ['the last page may be short', 9, 50, { fromMs: 0, toMs: 10, events: 5, skip: 4 }],
  ['a page of everything', 0, 500, { fromMs: 0, toMs: 40, events: 10, skip: 0 }],
  ['past the end there is none', 10, 50, undefined],
])('%s', (_, offset, limit, location) => {
  expect(locatePage(THREE, offset, limit)).toEqual(location);
});

test('ranges that touch stay apart, those that overlap come together', () => {
  expect(disjointRanges([range(10, 20, 1), range(0, 10, 2)])).toEqual([range(0, 10, 2), range(10, 20, 1)]);
  expect(disjointRanges([range(5, 30, 4), range(0, 10, 2), range(12, 14, 1), range(30, 31, 9)])).toEqual([
    range(0, 30, 7),
    range(30, 31, 9),
  ]);
});

const HOUR_MS = 3_600_000;

/** The start of each slot, and the end of the last one. */
function bounds(window: { readonly fromMs: number; readonly toMs: number }, newestMs: number): number[] {
  const slots = slotsOf(window, newestMs);
  const starts: number[] = [];
  for (let slot = 0; ; slot += 1) {
    const { fromMs, toMs } = slotRange(slots, slot, 1);
    starts.push(fromMs);
    if (toMs === window.toMs) {
      return [...starts, toMs];
    }
  }
}

test.each([
  ['of three days, with events until its end', { fromMs: 1_000, toMs: 1_000 + 72 * HOUR_MS }, 72 * HOUR_MS],
  ['with events until its middle', { fromMs: 0, toMs: 72 * HOUR_MS }, 36 * HOUR_MS],
  ['with events after it', { fromMs: 7, toMs: 7 + HOUR_MS }, 10 * HOUR_MS],
  ['with events at its start alone', { fromMs: 0, toMs: HOUR_MS }, 5],
  ['without events', { fromMs: 0, toMs: HOUR_MS }, Number.NEGATIVE_INFINITY],
  ['of a few milliseconds', { fromMs: 0, toMs: 20 }, 12],
])('the slots of a window %s follow upon one another from its start to its end', (_, window, newestMs) => {
  const starts = bounds(window, newestMs);
  expect(starts[0]).toBe(window.fromMs);
  expect(starts.slice(1).every((end, slot) => end > (starts[slot] as number))).toBe(true);
});

test('the last slots that can have events are a hundred times as short as others', () => {
  const window = { fromMs: 0, toMs: 1_024_000 };
  const lengthAt = (newestMs: number, timeMs: number) => {
    const starts = bounds(window, newestMs);
    const slot = starts.findLastIndex((start) => start <= timeMs);
    return (starts[slot + 1] as number) - (starts[slot] as number);
  };
  expect(lengthAt(1_023_999, 1_023_999)).toBe(8);
  expect(lengthAt(1_023_999, 1_016_000)).toBe(8);
  expect(lengthAt(1_023_999, 1_015_999)).toBe(1_000);
  expect(lengthAt(500_500, 500_500)).toBe(8);
  expect(lengthAt(500_500, 492_999)).toBe(1_000);
});

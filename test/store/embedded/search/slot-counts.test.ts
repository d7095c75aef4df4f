import { expect, test } from 'vitest';
import { slotRange, slotsOf } from '../../../../store/embedded/search/slot-counts.ts';

const HOUR_MS = 3_600_000;

/** Where slots from the first to the last begin, and where the last ends. */
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

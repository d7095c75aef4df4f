import type { TimeWindow } from '../../../query/search-plan.ts';
import type { CountedRange } from './page-location.ts';

/** So many events make a range: hardly more than a page, and few enough ranges to sort. */
const RANGE_EVENTS = 512;

/**
 * The parts of the window, newest first, that events with these times lie in; `times` is newest first. Events of the same time may be in
 * two parts, which then overlap.
 */
export function rangesOfTimes(times: Float64Array, { fromMs, toMs }: TimeWindow): CountedRange[] {
  const first = countFrom(times, toMs);
  const end = countFrom(times, fromMs);
  const ranges: CountedRange[] = [];
  for (let newest = first; newest < end; newest += RANGE_EVENTS) {
    const behind = Math.min(newest + RANGE_EVENTS, end);
    ranges.push({ fromMs: times[behind - 1] as number, toMs: (times[newest] as number) + 1, events: behind - newest });
  }
  return ranges;
}

/** How many of the times are `ms` or later. */
function countFrom(times: Float64Array, ms: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) >= ms) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

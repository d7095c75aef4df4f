import type { TimeWindow } from '../query/search-plan.ts';
import type { Stretch } from './page-location.ts';

/** So many events make a stretch: hardly more than a page, and few enough stretches to sort. */
const STRETCH_EVENTS = 512;

/** The parts of the window, newest first, that events with these times lie in; `times` is newest first. Events of the same time may be in two parts, which then overlap. */
export function stretchesOf(times: Float64Array, { fromMs, toMs }: TimeWindow): Stretch[] {
  const first = countFrom(times, toMs);
  const end = countFrom(times, fromMs);
  const stretches: Stretch[] = [];
  for (let newest = first; newest < end; newest += STRETCH_EVENTS) {
    const behind = Math.min(newest + STRETCH_EVENTS, end);
    stretches.push({ fromMs: times[behind - 1] as number, toMs: (times[newest] as number) + 1, events: behind - newest });
  }
  return stretches;
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

import type { TimeWindow } from '../query/plan/search-plan.ts';

/** The most rows of an export that are read together. They keep a core busy for some tens of milliseconds. */
export const MOST_ROWS_AT_ONCE = 4_096;

/** A range of a window, and the number of matching events in it. */
export interface CountedRange extends TimeWindow {
  readonly events: number;
}

/**
 * Takes as many of the newest ranges as are read together off the end of `ahead`, which has the newest last; undefined where it is empty. A
 * range with more events is divided first, down to a millisecond: `count` tells the ranges of a window that have events, in no order. Where
 * that rejects, nothing is taken.
 */
export async function takeNewest(
  ahead: CountedRange[],
  count: (window: TimeWindow) => Promise<readonly CountedRange[]>,
): Promise<CountedRange | undefined> {
  for (let newest = ahead.at(-1); newest !== undefined && isDivisible(newest); newest = ahead.at(-1)) {
    const parts = newestLast(await count(newest));
    ahead.pop();
    ahead.push(...parts);
  }
  const newest = ahead.pop();
  if (newest === undefined) {
    return undefined;
  }
  let { fromMs, events } = newest;
  for (let older = ahead.at(-1); older !== undefined && events + older.events <= MOST_ROWS_AT_ONCE; older = ahead.at(-1)) {
    ahead.pop();
    fromMs = older.fromMs;
    events += older.events;
  }
  return { fromMs, toMs: newest.toMs, events };
}

/** The ranges as {@link takeNewest} takes them. */
export function newestLast(ranges: readonly CountedRange[]): CountedRange[] {
  return ranges.toSorted((a, b) => a.fromMs - b.fromMs);
}

function isDivisible({ fromMs, toMs, events }: CountedRange): boolean {
  return events > MOST_ROWS_AT_ONCE && toMs - fromMs > 1;
}

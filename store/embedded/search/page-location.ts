import type { TimeWindow } from '../../../query/search-plan.ts';

/** A part of a window, and how many matching events lie in it. */
export interface CountedRange extends TimeWindow {
  readonly events: number;
}

/** The part of a window that holds a page. */
export interface PageLocation extends CountedRange {
  /** How many of its events are newer than the page. */
  readonly skip: number;
}

/**
 * Where the events number `offset` to `offset + limit` lie, counted from the newest. The ranges are disjoint.
 * Undefined when there are no more than `offset` events.
 */
export function locatePage(ranges: readonly CountedRange[], offset: number, limit: number): PageLocation | undefined {
  let location: PageLocation | undefined;
  let newer = 0;
  for (const { fromMs, toMs, events } of [...ranges].sort((a, b) => b.fromMs - a.fromMs)) {
    if (newer + events > offset && newer < offset + limit) {
      location =
        location === undefined
          ? { fromMs, toMs, events, skip: offset - newer }
          : { fromMs, toMs: location.toMs, events: location.events + events, skip: location.skip };
    }
    newer += events;
  }
  return location;
}

/** Puts ranges that overlap together. */
export function disjointRanges(ranges: readonly CountedRange[]): CountedRange[] {
  const merged: CountedRange[] = [];
  for (const next of [...ranges].sort((a, b) => a.fromMs - b.fromMs)) {
    const previous = merged.at(-1);
    if (previous === undefined || next.fromMs >= previous.toMs) {
      merged.push(next);
    } else {
      const toMs = Math.max(previous.toMs, next.toMs);
      merged[merged.length - 1] = { fromMs: previous.fromMs, toMs, events: previous.events + next.events };
    }
  }
  return merged;
}

import type { TimeWindow } from '../query/search-plan.ts';

/** A part of a window, and how many matching events lie in it. */
export interface Stretch extends TimeWindow {
  readonly events: number;
}

/** The part of a window that holds a page. */
export interface PageLocation extends Stretch {
  /** How many of its events are newer than the page. */
  readonly skip: number;
}

/**
 * Where the events number `offset` to `offset + limit` lie, counted from the newest. The stretches are disjoint.
 * Undefined when there are no more than `offset` events.
 */
export function locatePage(stretches: readonly Stretch[], offset: number, limit: number): PageLocation | undefined {
  let location: PageLocation | undefined;
  let newer = 0;
  for (const { fromMs, toMs, events } of [...stretches].sort((a, b) => b.fromMs - a.fromMs)) {
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

/** Puts stretches that overlap together. */
export function disjointStretches(stretches: readonly Stretch[]): Stretch[] {
  const merged: Stretch[] = [];
  for (const next of [...stretches].sort((a, b) => a.fromMs - b.fromMs)) {
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

import type { TimeWindow } from '../query/search-plan.ts';

/** A window divided into equal slots (the last may be shorter), numbered from its start. */
export interface TimeSlots {
  readonly window: TimeWindow;
  readonly slotMs: number;
  readonly count: number;
}

export function divideIntoSlots(window: TimeWindow, atMost: number): TimeSlots {
  const widthMs = window.toMs - window.fromMs;
  const slotMs = Math.max(1, Math.ceil(widthMs / atMost));
  return { window, slotMs, count: Math.ceil(widthMs / slotMs) };
}

export function slotOf({ window, slotMs }: TimeSlots, timestamp: number): number {
  return Math.floor((timestamp - window.fromMs) / slotMs);
}

/** The window from slot `first` to slot `last`, both included. */
function slotsWindow({ window, slotMs }: TimeSlots, first: number, last: number): TimeWindow {
  return { fromMs: window.fromMs + first * slotMs, toMs: Math.min(window.toMs, window.fromMs + (last + 1) * slotMs) };
}

/** A stretch of neighbouring slots and how many events it holds. */
export interface SlotCount {
  readonly first: number;
  /** Included. */
  readonly last: number;
  readonly events: number;
}

/** The part of a window that holds a page, and how many events of it are newer than the page. */
export interface PageLocation {
  readonly window: TimeWindow;
  readonly skip: number;
  readonly events: number;
}

/**
 * Where the events number `offset` to `offset + limit` lie, counted from the newest. `counts` are disjoint stretches.
 * Undefined when there are no more than `offset` events.
 */
export function locatePage(slots: TimeSlots, counts: readonly SlotCount[], offset: number, limit: number): PageLocation | undefined {
  const newestFirst = [...counts].sort((a, b) => b.first - a.first);
  let newer = 0;
  let skip = 0;
  let events = 0;
  let newest: SlotCount | undefined;
  let oldest: SlotCount | undefined;
  for (const stretch of newestFirst) {
    if (newer + stretch.events > offset && newer < offset + limit) {
      skip = newest === undefined ? offset - newer : skip;
      newest ??= stretch;
      oldest = stretch;
      events += stretch.events;
    }
    newer += stretch.events;
  }
  if (newest === undefined || oldest === undefined) {
    return undefined;
  }
  return { window: slotsWindow(slots, oldest.first, newest.last), skip, events };
}

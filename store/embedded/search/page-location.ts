import type { TimeWindow } from '../../../query/plan/search-plan.ts';
import { duckdbDialect } from '../../../sql/dialect.ts';
import { slotAt, slotCountStatement, type TimeSlots } from '../../../sql/row-statements.ts';
import type { CountedRange } from '../../counted-ranges.ts';
import type { CheckedSegment } from '../integrity/segment-checks.ts';
import type { SearchScope } from './search-scope.ts';

/** The range of a window that holds a page. */
export interface PageLocation extends CountedRange {
  /** Number of its events that are newer than the page. */
  readonly skip: number;
}

/**
 * The range that holds the events number `offset` to `offset + limit`, counted from the newest. The given ranges are disjoint. Undefined
 * where there are no more than `offset` events.
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

/** Merges overlapping ranges. */
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

const SLOTS = 1024;

/** So many of the last slots that can have events are divided once more, because most pages that are asked for are the newest. */
const DIVIDED = 8;

/** The time slots to count a window by, whose newest event is no later than `newestMs`. */
export function slotsOf(window: TimeWindow, newestMs: number): TimeSlots {
  const { fromMs, toMs } = window;
  const slotMs = Math.ceil((toMs - fromMs) / SLOTS);
  const newestSlot = Math.floor((Math.min(newestMs, toMs - 1) - fromMs) / slotMs);
  if (newestSlot < 0 || slotMs === 1) {
    return { window, slotMs };
  }
  const newestFromMs = fromMs + Math.max(0, newestSlot + 1 - DIVIDED) * slotMs;
  return { window, slotMs, newest: { fromMs: newestFromMs, slotMs: Math.ceil((DIVIDED * slotMs) / SLOTS) } };
}

/** Counts the matching events of the window by slot. Returns the ranges that have some, in no order. */
export async function countBySlot(scope: SearchScope, window: TimeWindow, segments?: readonly CheckedSegment[]): Promise<CountedRange[]> {
  const slots = slotsOf(window, scope.newestMs);
  const counted = await scope.runner.run(slotCountStatement(scope.plan, scope.events(window, segments), slots, duckdbDialect));
  return counted.map(([slot, events]) => slotRange(slots, Number(slot), Number(events)));
}

/** The range of the slot with this number. */
export function slotRange(slots: TimeSlots, slot: number, events: number): CountedRange {
  const { window, newest } = slots;
  const firstNewest = newest === undefined ? Number.POSITIVE_INFINITY : slotAt(slots, newest.fromMs);
  const [fromMs, slotMs] =
    newest === undefined || slot < firstNewest
      ? [window.fromMs + slot * slots.slotMs, slots.slotMs]
      : [newest.fromMs + (slot - firstNewest) * newest.slotMs, newest.slotMs];
  return { fromMs, toMs: Math.min(window.toMs, fromMs + slotMs), events };
}

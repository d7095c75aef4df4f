import type { TimeWindow } from '../../../query/search-plan.ts';
import { duckdbDialect } from '../../../sql/duckdb-dialect.ts';
import { slotAt, slotCountStatement, type TimeSlots } from '../../../sql/row-statements.ts';
import type { CountedRange } from './page-location.ts';
import type { FlushedPart, SearchScope } from './search-scope.ts';

const SLOTS = 1024;

/** So many of the last slots that can have events are divided once more: most pages that are asked for are the newest. */
const DIVIDED = 8;

/** The time slots that a window is counted by whose newest event is no later than `newestMs`. */
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

/** The parts of the window that have matching events, in no order. */
export async function countBySlot(scope: SearchScope, window: TimeWindow, flushed?: readonly FlushedPart[]): Promise<CountedRange[]> {
  const slots = slotsOf(window, scope.newestMs);
  const counted = await scope.run(slotCountStatement(scope.plan, scope.events(window, flushed), slots, duckdbDialect));
  return counted.map(([slot, events]) => slotRange(slots, Number(slot), Number(events)));
}

/** What a slot is of its window. */
export function slotRange(slots: TimeSlots, slot: number, events: number): CountedRange {
  const { window, newest } = slots;
  const firstNewest = newest === undefined ? Number.POSITIVE_INFINITY : slotAt(slots, newest.fromMs);
  const [fromMs, slotMs] =
    newest === undefined || slot < firstNewest
      ? [window.fromMs + slot * slots.slotMs, slots.slotMs]
      : [newest.fromMs + (slot - firstNewest) * newest.slotMs, newest.slotMs];
  return { fromMs, toMs: Math.min(window.toMs, fromMs + slotMs), events };
}

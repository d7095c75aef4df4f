import type { TimeWindow } from '../query/search-plan.ts';
import { duckdbDialect } from '../sql/duckdb-dialect.ts';
import { slotCountStatement } from '../sql/row-statements.ts';
import type { Stretch } from './page-location.ts';
import type { SealedPart, SearchScope } from './search-scope.ts';

const SLOTS = 1024;

/** How long the time slots are that a window is counted by. */
export function slotMsOf({ fromMs, toMs }: TimeWindow): number {
  return Math.ceil((toMs - fromMs) / SLOTS);
}

/** The parts of the window that have matching events, in no order. */
export async function countBySlot(scope: SearchScope, window: TimeWindow, sealed?: readonly SealedPart[]): Promise<Stretch[]> {
  const slotMs = slotMsOf(window);
  const counted = await scope.run(slotCountStatement(scope.plan, scope.events(window, sealed), window, slotMs, duckdbDialect));
  return counted.map(([slot, events]) => slotStretch(window, slotMs, Number(slot), Number(events)));
}

export function slotStretch(window: TimeWindow, slotMs: number, slot: number, events: number): Stretch {
  const fromMs = window.fromMs + slot * slotMs;
  return { fromMs, toMs: Math.min(window.toMs, fromMs + slotMs), events };
}

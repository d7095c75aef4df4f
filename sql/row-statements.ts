import type { SearchPlan, TimeWindow } from '../query/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, type SqlFragment, sql } from './fragment.ts';
import { predicateSql } from './predicate-sql.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** The condition that an event of the plan's zone in `window` (half-open) fulfils the plan's predicate. */
export function matchSql(plan: SearchPlan, window: TimeWindow, dialect: Dialect): SqlFragment {
  const inZoneAndWindow = sql`${column('shieldZoneId')} = ${int32(plan.zoneId)} AND ${column('timestamp')} >= ${int64(window.fromMs)} AND ${column('timestamp')} < ${int64(window.toMs)}`;
  return plan.where.kind === 'everything' ? inZoneAndWindow : sql`${inZoneAndWindow} AND ${predicateSql(plan.where, dialect)}`;
}

/** Parts of a window, numbered 0, 1, … in the order of time: slots of `slotMs` from its start on, and from `newest` on shorter ones. */
export interface TimeSlots {
  readonly window: TimeWindow;
  readonly slotMs: number;
  readonly newest?: {
    /** A whole number of slots after the window's start. */
    readonly fromMs: number;
    readonly slotMs: number;
  };
}

/** How many matching events lie in each time slot of a window. Columns: `slot`, `events`; only slots that have any. */
export function slotCountStatement(plan: SearchPlan, events: SqlFragment, slots: TimeSlots, dialect: Dialect): SqlStatement {
  return renderSql(
    sql`SELECT ${slotOf(slots, dialect)} AS slot, count(*) AS events FROM ${events} WHERE ${matchSql(plan, slots.window, dialect)} GROUP BY slot`,
    dialect.placeholder,
  );
}

/** The same by `file` as well, which `events` has as a further column. Columns: `file`, `slot`, `events`. */
export function fileSlotCountStatement(plan: SearchPlan, events: SqlFragment, slots: TimeSlots, dialect: Dialect): SqlStatement {
  return renderSql(
    sql`SELECT file, ${slotOf(slots, dialect)} AS slot, count(*) AS events FROM ${events} WHERE ${matchSql(plan, slots.window, dialect)} GROUP BY file, slot`,
    dialect.placeholder,
  );
}

/** The number of the slot that begins at a time, where slots end that are all of one length. */
export function slotAt({ window, slotMs }: TimeSlots, timeMs: number): number {
  return (timeMs - window.fromMs) / slotMs;
}

function slotOf(slots: TimeSlots, dialect: Dialect): SqlFragment {
  const { window, slotMs, newest } = slots;
  const since = (fromMs: number, ms: number) => dialect.divide(sql`(${column('timestamp')} - ${int64(fromMs)})`, sql`${int64(ms)}`);
  const slot = since(window.fromMs, slotMs);
  if (newest === undefined) {
    return slot;
  }
  const newestSlot = sql`${int64(slotAt(slots, newest.fromMs))} + ${since(newest.fromMs, newest.slotMs)}`;
  return sql`CASE WHEN ${column('timestamp')} < ${int64(newest.fromMs)} THEN ${slot} ELSE ${newestSlot} END`;
}

/** One slice of the matching events of `window`, newest first, in the order of the answer. Columns: those `selected`. */
export function rowPageStatement(
  plan: SearchPlan,
  events: SqlFragment,
  window: TimeWindow,
  slice: { readonly offset: number; readonly limit: number },
  selected: SqlFragment,
  dialect: Dialect,
): SqlStatement {
  return renderSql(
    sql`SELECT ${selected} FROM ${events} WHERE ${matchSql(plan, window, dialect)} ORDER BY ${column('timestamp')} DESC, ${column('logId')} LIMIT ${int64(slice.limit)} OFFSET ${int64(slice.offset)}`,
    dialect.placeholder,
  );
}

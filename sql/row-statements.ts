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

/**
 * How many matching events lie in each time slot of `slotMs`, counted from the window's start.
 * Columns: `slot` (0, 1, …), `events`; only slots that have any.
 */
export function slotCountStatement(
  plan: SearchPlan,
  events: SqlFragment,
  window: TimeWindow,
  slotMs: number,
  dialect: Dialect,
): SqlStatement {
  return renderSql(
    sql`SELECT ${slotOf(window, slotMs, dialect)} AS slot, count(*) AS events FROM ${events} WHERE ${matchSql(plan, window, dialect)} GROUP BY slot`,
    dialect.placeholder,
  );
}

/** The same by `file` as well, which `events` has as a further column. Columns: `file`, `slot`, `events`. */
export function fileSlotCountStatement(
  plan: SearchPlan,
  events: SqlFragment,
  window: TimeWindow,
  slotMs: number,
  dialect: Dialect,
): SqlStatement {
  return renderSql(
    sql`SELECT file, ${slotOf(window, slotMs, dialect)} AS slot, count(*) AS events FROM ${events} WHERE ${matchSql(plan, window, dialect)} GROUP BY file, slot`,
    dialect.placeholder,
  );
}

function slotOf(window: TimeWindow, slotMs: number, dialect: Dialect): SqlFragment {
  return dialect.divide(sql`(${column('timestamp')} - ${int64(window.fromMs)})`, sql`${int64(slotMs)}`);
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

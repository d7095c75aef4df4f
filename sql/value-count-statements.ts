import type { GroupDimension } from '../query/event-fields.ts';
import { hullOf, type SearchPlan, type TimeWindow } from '../query/plan/search-plan.ts';
import { column, dimensionColumn } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { TOO_LONG } from './group-fact-statements.ts';
import { wantedKeys } from './group-statements.ts';
import { matchSql } from './predicate-sql.ts';
import { int32, int64, joinSql, NO_SQL, type SqlFragment, type SqlStatement, sql, text, trusted } from './statement.ts';

/**
 * Statements that count how many events of a search have each value of several fields. A missing value is the empty one.
 * `store/embedded/search/value-counts.ts` chooses among them. A question about few events is answered by `sql/explore-statements.ts` alone.
 */

/** What a statement lists of the values of each field. */
export interface ListLimits {
  /** So many first values. */
  readonly max: number;
  /** Of lists that are longer together, there is {@link TOO_LONG} instead of the values. */
  readonly maxBytes: number;
  /** The same where one of the values is longer. The engine does not hold longer ones while it looks for the first. */
  readonly maxValueBytes: number;
}

/**
 * The values that each of the fields has: those with the most events, in the order of a facet by count. Columns: `field`, the index in
 * `fields`; `distinct`, the number of all values of the field; the JSON texts of two arrays, the values and their counts. A further row,
 * with the number of fields as `field`, has the number of all events as its only count.
 */
export function valueCountsStatement(
  plan: SearchPlan,
  fields: readonly GroupDimension[],
  limits: ListLimits,
  events: SqlFragment,
): SqlStatement {
  const matching = sql`${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}`;
  return valuesOf(fields, limits, matching, trusted('count(*)'));
}

/**
 * The values of all events, by code point, equal ones beside one another: of few events this takes half the time of counting them. One row;
 * a column for each field, the JSON text of an array, NULL where there are no events, {@link TOO_LONG} where the values have more bytes.
 */
export function sortedValuesStatement(
  plan: SearchPlan,
  fields: readonly GroupDimension[],
  maxBytes: number,
  events: SqlFragment,
): SqlStatement {
  const lists = fields.map((field) => {
    const value = column(dimensionColumn(field));
    return sql`CASE WHEN sum(strlen(${value})) > ${int64(maxBytes)} THEN ${text(TOO_LONG)}
      ELSE to_json(list_sort(list(coalesce(${value}, ''))))::VARCHAR END`;
  });
  return duckdbStatement(sql`SELECT ${joinSql(lists)} FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}`);
}

/**
 * By how much the counts of the values are greater than they were when only events before `endSequence` in the window `before` were
 * counted. Columns as those of {@link valueCountsStatement}.
 */
export function changedValueCountsStatement(
  plan: SearchPlan,
  fields: readonly GroupDimension[],
  limits: ListLimits,
  events: SqlFragment,
  { window: before, endSequence }: { readonly window: TimeWindow; readonly endSequence: bigint },
): SqlStatement {
  const { window } = plan;
  const hull = hullOf(before, window);
  const isCounted = inWindow(window);
  const wasCounted = sql`(${inWindow(before)} AND ${column('seq')} < ${int64(endSequence)})`;
  const matching = sql`${events} WHERE ${matchSql(plan, hull, duckdbDialect)} AND ${isCounted} <> ${wasCounted}`;
  return valuesOf(fields, limits, matching, sql`sum(CASE WHEN ${isCounted} THEN 1 ELSE -1 END)::BIGINT`);
}

function inWindow({ fromMs, toMs }: TimeWindow): SqlFragment {
  return sql`(${column('timestamp')} >= ${int64(fromMs)} AND ${column('timestamp')} < ${int64(toMs)})`;
}

/**
 * Events are counted by the columns as they are, because DuckDB does that faster; the empty value and the missing one are put together
 * afterwards. `weight` is an aggregate: what events add to the count of their values.
 */
function valuesOf(
  fields: readonly GroupDimension[],
  { max, maxBytes, maxValueBytes }: ListLimits,
  matching: SqlFragment,
  weight: SqlFragment,
): SqlStatement {
  const columns = fields.map(columnOf);
  const grouped = sql`SELECT ${groupedColumn(columns)} AS field, ${groupedValue(fields)} AS value, ${weight} AS events
    FROM ${matching}${setsOf(columns)}`;
  const counted = sql`SELECT field, value, sum(events)::BIGINT AS events FROM (${grouped}) AS grouped GROUP BY field, value`;
  const kept = sql`SELECT field, count(*) AS "distinct", min({'fewer': -events, ${listedValue(maxValueBytes)}}, ${int64(max)}) AS first
    FROM (${counted}) AS counted GROUP BY field`;
  return duckdbStatement(
    sql`SELECT field, "distinct", ${listedValues(trusted('first'), maxBytes)}, to_json([-one.fewer FOR one IN first])::VARCHAR
      FROM (${kept}) AS kept`,
  );
}

/**
 * The members of a struct for a value. Of a long one there is the empty text, which comes before it, so that it is in every list of first
 * values in which the long one would be.
 */
export function listedValue(maxValueBytes: number): SqlFragment {
  const isLong = sql`strlen(value) > ${int64(maxValueBytes)}`;
  return sql`'value': CASE WHEN ${isLong} THEN '' ELSE value END, 'isLong': ${isLong}`;
}

/** The JSON text of the values in a list of such structs; {@link TOO_LONG} where one is long, or where they have more bytes. */
export function listedValues(list: SqlFragment, maxBytes: number): SqlFragment {
  return sql`CASE WHEN list_sum([strlen(one.value) + CASE WHEN one."isLong" THEN ${int64(maxBytes)} + 1 ELSE 0 END FOR one IN ${list}])
      > ${int64(maxBytes)} THEN ${text(TOO_LONG)}
      ELSE to_json([one.value FOR one IN ${list}])::VARCHAR END`;
}

/** A zone is grouped as a number and becomes a text afterwards. */
const columnOf = (field: GroupDimension) => column(field === 'shieldZoneId' ? 'shieldZoneId' : dimensionColumn(field));

/** The value of the field that a row is grouped by, as text. */
function groupedValue(fields: readonly GroupDimension[]): SqlFragment {
  const texts = fields.map((field) => (field === 'shieldZoneId' ? sql`${columnOf(field)}::VARCHAR` : columnOf(field)));
  return sql`coalesce(${joinSql([...texts, trusted("''")])})`;
}

/** A grouping set for each column, one of all rows, and `further` ones. */
export function setsOf(columns: readonly SqlFragment[], further: readonly SqlFragment[] = []): SqlFragment {
  const sets = [...columns.map((one) => sql`(${one})`), trusted('()'), ...further];
  return columns.length === 0 ? NO_SQL : sql` GROUP BY GROUPING SETS (${joinSql(sets)})`;
}

/**
 * The index of the column that a row is grouped by; the number of columns in a row of all. GROUPING has a bit for each column, the first
 * one the highest, and it is 0 for that.
 */
export function groupedColumn(columns: readonly SqlFragment[]): SqlFragment {
  const all = 2 ** columns.length - 1;
  const cases = [...columns.keys()].map((index) => sql`WHEN ${int64(all - 2 ** (columns.length - 1 - index))} THEN ${int32(index)}`);
  return columns.length === 0
    ? sql`${int32(0)}`
    : sql`CASE GROUPING(${joinSql(columns)}) ${joinSql(cases, ' ')} ELSE ${int32(columns.length)} END`;
}

/** The number of events with each of these values. Columns: `position`, the index in `values`, and `events`; only counts above 0. */
export function countsOfValuesStatement(
  plan: SearchPlan,
  field: GroupDimension,
  values: readonly string[],
  events: SqlFragment,
): SqlStatement {
  const keys = values.map((value) => [value]);
  return duckdbStatement(
    sql`SELECT position, count(*) AS events FROM ${events} JOIN ${wantedKeys([field], keys)}
      WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY position`,
  );
}

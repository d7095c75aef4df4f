import type { GroupDimension } from '../query/event-fields.ts';
import type { SearchPlan, TimeWindow } from '../query/plan/search-plan.ts';
import { column, dimensionColumn } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { wantedKeys } from './group-statements.ts';
import { matchSql } from './predicate-sql.ts';
import { int32, int64, joinSql, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** Statements that count how many events of a search have each value of several fields. A missing value is the empty one. */

/** Events, and what each adds to the count of its values. */
interface Weighed {
  readonly matching: SqlFragment;
  /** An aggregate. */
  readonly weight: SqlFragment;
}

/**
 * The values of each of the fields that occur, those of the most events first, at most `max` of a field. Columns: `field`, the index in
 * `fields`; `distinct`, the number of all values of the field; the JSON texts of two arrays, the values and their counts. A last row, with
 * as many as there are fields as `field`, has the number of all events as its only count.
 */
export function valueCountsStatement(plan: SearchPlan, fields: readonly GroupDimension[], max: number, events: SqlFragment): SqlStatement {
  const matching = sql`${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}`;
  return valuesOf(fields, max, { matching, weight: trusted('count(*)') });
}

/**
 * By how much the counts of the values are greater than they were when only events before `endSequence` in the window `before` were
 * counted. Columns as those of {@link valueCountsStatement}.
 */
export function changedValueCountsStatement(
  plan: SearchPlan,
  fields: readonly GroupDimension[],
  max: number,
  events: SqlFragment,
  { window: before, endSequence }: { readonly window: TimeWindow; readonly endSequence: bigint },
): SqlStatement {
  const { window } = plan;
  const hull = { fromMs: Math.min(before.fromMs, window.fromMs), toMs: Math.max(before.toMs, window.toMs) };
  const isCounted = inWindow(window);
  const wasCounted = sql`(${inWindow(before)} AND ${column('seq')} < ${int64(endSequence)})`;
  const matching = sql`${events} WHERE ${matchSql(plan, hull, duckdbDialect)} AND ${isCounted} <> ${wasCounted}`;
  return valuesOf(fields, max, { matching, weight: sql`sum(CASE WHEN ${isCounted} THEN 1 ELSE -1 END)::BIGINT` });
}

function inWindow({ fromMs, toMs }: TimeWindow): SqlFragment {
  return sql`(${column('timestamp')} >= ${int64(fromMs)} AND ${column('timestamp')} < ${int64(toMs)})`;
}

/**
 * Events are counted by the columns as they are, because DuckDB does that faster; the empty value and the missing one are put together
 * afterwards. Each field is sorted for itself, because a window over all of them takes longer.
 */
function valuesOf(fields: readonly GroupDimension[], max: number, { matching, weight }: Weighed): SqlStatement {
  const grouped = sql`SELECT ${groupedField(fields)} AS field, ${groupedValue(fields)} AS value, ${weight} AS events
    FROM ${matching}${setsOf(fields)}`;
  const counted = sql`SELECT field, value, events FROM grouped WHERE value <> ''
    UNION ALL SELECT field, '' AS value, sum(events)::BIGINT AS events FROM grouped WHERE value = '' GROUP BY field`;
  const first = [...fields.keys(), fields.length].map(
    (field) => sql`(SELECT field, value, events FROM counted WHERE field = ${int32(field)}
      ORDER BY events DESC, value LIMIT ${int64(max)})`,
  );
  const listOf = (name: 'value' | 'events') => trusted(`to_json(list(first.${name} ORDER BY first.events DESC, first.value))::VARCHAR`);
  return duckdbStatement(
    sql`WITH grouped AS MATERIALIZED (${grouped}), counted AS MATERIALIZED (${counted}), first AS (${joinSql(first, ' UNION ALL ')}),
      sizes AS (SELECT field, count(*) AS "distinct" FROM counted GROUP BY field)
      SELECT field, "distinct", ${listOf('value')}, ${listOf('events')} FROM first JOIN sizes USING (field) GROUP BY field, "distinct"`,
  );
}

/** A zone is grouped as a number and becomes a text afterwards. */
const columnOf = (field: GroupDimension) => column(field === 'shieldZoneId' ? 'shieldZoneId' : dimensionColumn(field));
const columnsOf = (fields: readonly GroupDimension[]) => joinSql(fields.map(columnOf));

function setsOf(fields: readonly GroupDimension[]): SqlFragment {
  return fields.length === 0
    ? trusted('')
    : sql` GROUP BY GROUPING SETS (${joinSql(fields.map((field) => sql`(${columnOf(field)})`))}, ())`;
}

/** The index of the field that a row is grouped by. GROUPING has a bit for each field, the first one the highest, and it is 0 for that. */
function groupedField(fields: readonly GroupDimension[]): SqlFragment {
  const all = 2 ** fields.length - 1;
  const cases = [...fields.keys()].map((index) => sql`WHEN ${int64(all - 2 ** (fields.length - 1 - index))} THEN ${int32(index)}`);
  return fields.length === 0
    ? sql`${int32(0)}`
    : sql`CASE GROUPING(${columnsOf(fields)}) ${joinSql(cases, ' ')} ELSE ${int32(fields.length)} END`;
}

function groupedValue(fields: readonly GroupDimension[]): SqlFragment {
  const texts = fields.map((field) => (field === 'shieldZoneId' ? sql`${columnOf(field)}::VARCHAR` : columnOf(field)));
  return sql`coalesce(${joinSql([...texts, trusted("''")])})`;
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

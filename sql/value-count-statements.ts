import type { GroupDimension } from '../query/event-fields.ts';
import { hullOf, type SearchPlan, type TimeWindow } from '../query/plan/search-plan.ts';
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
 * The values that each of the fields has, in no order: the `max` of a field with the most events. Columns: `field`, the index in `fields`;
 * `distinct`, the number of all values of the field; the JSON texts of two arrays, the values and their counts. A further row, with the
 * number of fields as `field`, has the number of all events as its only count.
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
  const hull = hullOf(before, window);
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
 * afterwards. Only fields with too many values are sorted here, because that costs a search of few events more than counting them.
 */
function valuesOf(fields: readonly GroupDimension[], max: number, { matching, weight }: Weighed): SqlStatement {
  const grouped = sql`SELECT ${groupedField(fields)} AS field, ${groupedValue(fields)} AS value, ${weight} AS events
    FROM ${matching}${setsOf(fields)}`;
  const counted = sql`SELECT field, value, sum(events)::BIGINT AS events FROM (${grouped}) AS grouped GROUP BY field, value`;
  const sized = sql`SELECT field, "distinct", value, events FROM counted JOIN sizes USING (field)`;
  const first = sql`${sized} WHERE "distinct" > ${int64(max)} AND events >= least
    QUALIFY row_number() OVER (PARTITION BY field ORDER BY events DESC, value) <= ${int64(max)}`;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${counted}),
      sizes AS MATERIALIZED (SELECT field, count(*) AS "distinct", list_min(max(events, ${int64(max)})) AS least
        FROM counted GROUP BY field)
      SELECT field, "distinct", to_json(list(value))::VARCHAR, to_json(list(events))::VARCHAR
      FROM (${sized} WHERE "distinct" <= ${int64(max)} UNION ALL ${first}) AS kept GROUP BY field, "distinct"`,
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

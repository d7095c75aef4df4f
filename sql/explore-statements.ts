import type { GroupDimension } from '../query/event-fields.ts';
import type { FacetRequest, Selection } from '../query/plan/explore-plan.ts';
import type { SearchPlan } from '../query/plan/search-plan.ts';
import { column, dimensionColumn } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { bucketOf } from './group-fact-statements.ts';
import { keyColumns, wantedKeys } from './group-statements.ts';
import { matchSql } from './predicate-sql.ts';
import { int64, joinSql, markText, NO_SQL, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** Statements of the explorer: what values the fields of a search's events have, and when the events were. */

/**
 * How much larger a value's share of the selection is than its share of the rest, times both totals. The product is a whole number, so
 * values compare exactly. The total of an empty side is 1, as all of its counts are 0.
 */
const DIFFERENCE = trusted(
  'selected::HUGEINT * greatest(total - inside, 1)::HUGEINT - (events - selected)::HUGEINT * greatest(inside, 1)::HUGEINT',
);

/**
 * The first values of a facet by difference. Columns: `value` (marked text), `events`, `selected`, in the order of the facet. It counts all
 * values of the field.
 */
export function differenceFacetStatement(
  plan: SearchPlan,
  { field, limit }: FacetRequest,
  { window, where }: Selection,
  events: SqlFragment,
): SqlStatement {
  const isSelected = matchSql({ ...plan, zones: 'all', where }, window, duckdbDialect);
  const counted = sql`SELECT coalesce(${column(dimensionColumn(field))}, '') AS value, count(*) AS events,
    count(*) FILTER (WHERE ${isSelected}) AS selected
    FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY value`;
  const sums = sql`SELECT sum(events) AS total, sum(selected) AS inside FROM counted`;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${counted}), sums AS MATERIALIZED (${sums})
      SELECT ${markText(trusted('value'))}, events, selected FROM counted, sums
      ORDER BY ${DIFFERENCE} DESC, events DESC, value LIMIT ${int64(limit)}`,
  );
}

/** The first values of a field that are not `among` some, a value for each event. Column: `value` (marked text), in the order of texts. */
export function otherValuesStatement(
  plan: SearchPlan,
  field: GroupDimension,
  among: readonly string[],
  limit: number,
  events: SqlFragment,
): SqlStatement {
  const parts = keyColumns(field).map((name, index) => ({ name: trusted(`part${index}`), value: sql`coalesce(${column(name)}, '')` }));
  const keys = among.map((value) => [value]);
  const [join, isOther] =
    among.length === 0 ? [NO_SQL, NO_SQL] : [sql` LEFT JOIN ${wantedKeys([field], keys)}`, sql` AND position IS NULL`];
  const names = joinSql(parts.map(({ name }) => name));
  const selected = joinSql(parts.map(({ name, value }) => sql`${value} AS ${name}`));
  return duckdbStatement(
    sql`SELECT ${markText(
      joinSql(
        parts.map(({ name }) => name),
        ' || ',
      ),
    )} FROM (SELECT ${selected} FROM ${events}${join}
      WHERE ${matchSql(plan, plan.window, duckdbDialect)}${isOther} ORDER BY ${names} LIMIT ${int64(limit)}) AS others ORDER BY ${names}`,
  );
}

/** The field whose values have series of their own in a histogram, and these values. */
export interface SeriesValues {
  readonly by: GroupDimension;
  readonly values: readonly string[];
  /** Whether the field has few values, these and others. */
  readonly hasFewValues: boolean;
}

/**
 * Counts the events by bucket and series. Columns: `bucket`, `position` (index of the value, NULL for others), `events`; only counts
 * above 0. A bucket and position may come several times.
 */
export function histogramStatement(plan: SearchPlan, buckets: number, series: SeriesValues | null, events: SqlFragment): SqlStatement {
  const bucket = bucketOf(plan.window, buckets, duckdbDialect);
  const matching = sql`WHERE ${matchSql(plan, plan.window, duckdbDialect)}`;
  if (series === null) {
    return duckdbStatement(
      sql`SELECT ${bucket} AS bucket, NULL AS position, count(*) AS events FROM ${events} ${matching} GROUP BY bucket`,
    );
  }
  const { by, values, hasFewValues } = series;
  const wanted = wantedKeys(
    [by],
    values.map((value) => [value]),
  );
  if (!hasFewValues) {
    return duckdbStatement(
      sql`SELECT ${bucket} AS bucket, position, count(*) AS events
        FROM ${events} LEFT JOIN ${wanted} ${matching} GROUP BY bucket, position`,
    );
  }
  // Joining the counts of few values takes less time than joining the events.
  const columns = joinSql(keyColumns(by).map(column));
  const counted = sql`SELECT ${bucket} AS bucket, ${columns}, count(*) AS events FROM ${events} ${matching} GROUP BY bucket, ${columns}`;
  return duckdbStatement(sql`SELECT bucket, position, events FROM (${counted}) AS counted LEFT JOIN ${wanted}`);
}

/** The zones with events of the search. Columns: zone, events, last time; by events descending, then by zone. */
export function activeZonesStatement(plan: SearchPlan, events: SqlFragment): SqlStatement {
  return duckdbStatement(
    sql`SELECT ${column('shieldZoneId')} AS zone, count(*) AS events, max(${column('timestamp')}) AS last
      FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY zone ORDER BY events DESC, zone`,
  );
}

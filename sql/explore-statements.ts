import type { GroupDimension } from '../query/event-fields.ts';
import type { FacetRequest, Selection } from '../query/plan/explore-plan.ts';
import type { SearchPlan } from '../query/plan/search-plan.ts';
import { column, dimensionColumn } from './columns.ts';
import { type Dialect, duckdbDialect, duckdbStatement } from './dialect.ts';
import { bucketOf } from './group-facts.ts';
import { wantedKeys } from './group-statements.ts';
import { matchSql } from './predicate-sql.ts';
import { int64, markText, NO_SQL, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** Statements of the explorer: what values the fields of a search's events have, and when the events were. */

/** The condition that an event of the search is in the selection. */
function selectionSql(plan: SearchPlan, { window, where }: Selection, dialect: Dialect): SqlFragment {
  return matchSql({ ...plan, zones: 'all', where }, window, dialect);
}

/**
 * How much larger a value's share of the selection is than its share of the rest, times both totals. The product is a whole number, so
 * values compare exactly. The total of an empty side is 1, as all of its counts are 0.
 */
const DIFFERENCE = trusted(
  'selected::HUGEINT * greatest(total - inside, 1)::HUGEINT - (events - selected)::HUGEINT * greatest(inside, 1)::HUGEINT',
);

/**
 * The first values of a facet and the number of all. Columns: `distinct`, `value` (marked text), `events`, `selected` (0 without a
 * selection), in the order of the facet. Without values it is one row in which the last three are NULL.
 */
export function facetStatement(
  plan: SearchPlan,
  { field, limit, order }: FacetRequest,
  selection: Selection | null,
  events: SqlFragment,
): SqlStatement {
  const isSelected = selection === null ? trusted('false') : selectionSql(plan, selection, duckdbDialect);
  const counted = sql`SELECT coalesce(${column(dimensionColumn(field))}, '') AS value, count(*) AS events,
    count(*) FILTER (WHERE ${isSelected}) AS selected
    FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY value`;
  const sums = sql`SELECT count(*) AS values, sum(events) AS total, sum(selected) AS inside FROM counted`;
  const rank = order === 'difference' ? DIFFERENCE : trusted('0');
  const first = sql`SELECT value, events, selected, ${rank} AS rank FROM counted, sums
    ORDER BY rank DESC, events DESC, value LIMIT ${int64(limit)}`;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${counted}), sums AS MATERIALIZED (${sums}), first AS (${first})
      SELECT values, ${markText(trusted('value'))}, events, selected FROM sums LEFT JOIN first ON true
      ORDER BY rank DESC, events DESC, value`,
  );
}

/** Number of the events of the selection. */
export function selectionCountStatement(plan: SearchPlan, selection: Selection, events: SqlFragment): SqlStatement {
  return duckdbStatement(
    sql`SELECT count(*) FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}
      AND ${selectionSql(plan, selection, duckdbDialect)}`,
  );
}

/** The field whose values have series of their own in a histogram, and these values. */
export interface SeriesValues {
  readonly by: GroupDimension;
  readonly values: readonly string[];
}

/**
 * Counts the events by bucket and series. Columns: `bucket`, `position` (index of the value, NULL for others), `events`; only counts
 * above 0.
 */
export function histogramStatement(plan: SearchPlan, buckets: number, series: SeriesValues | null, events: SqlFragment): SqlStatement {
  const isDivided = series !== null && series.values.length > 0;
  const join = isDivided
    ? sql` LEFT JOIN ${wantedKeys(
        [series.by],
        series.values.map((value) => [value]),
      )}`
    : NO_SQL;
  return duckdbStatement(
    sql`SELECT ${bucketOf(plan.window, buckets, duckdbDialect)} AS bucket, ${trusted(isDivided ? 'position' : 'NULL')} AS position,
      count(*) AS events FROM ${events}${join} WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY ALL`,
  );
}

/** The zones with events of the search. Columns: zone, events, last time; by events descending, then by zone. */
export function activeZonesStatement(plan: SearchPlan, events: SqlFragment): SqlStatement {
  return duckdbStatement(
    sql`SELECT ${column('shieldZoneId')} AS zone, count(*) AS events, max(${column('timestamp')}) AS last
      FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY zone ORDER BY events DESC, zone`,
  );
}

import { type GroupDimension, isFolded } from '../query/event-fields.ts';
import type { FacetRequest, HistogramRequest, Selection } from '../query/plan/explore-plan.ts';
import type { Predicate, SearchPlan } from '../query/plan/search-plan.ts';
import type { Combination } from '../query/plan/search-result.ts';
import { MAX_COMBINED } from '../query/search-limits.ts';
import { bucketOf } from './bucket-sql.ts';
import { column, dimensionColumn } from './columns.ts';
import { type Dialect, duckdbDialect, duckdbStatement } from './dialect.ts';
import { keyColumns, wantedKeys } from './group-statements.ts';
import { isSelected, matchSql, predicateSql } from './predicate-sql.ts';
import {
  int32,
  int64,
  joinSql,
  markText,
  NO_SQL,
  renderSql,
  type SqlFragment,
  type SqlStatement,
  sql,
  trusted,
  unmarkText,
} from './statement.ts';
import { groupedColumn, type ListLimits, listedValue, listedValues, setsOf } from './value-count-statements.ts';

/** Statements of the explorer: what values the fields of a search's events have, and when the events were. */

/**
 * How much larger a value's share of the selection is than its share of the rest, times both totals. The product is a whole number, so
 * values compare exactly. The total of an empty side is 1, as all of its counts are 0.
 */
const DIFFERENCE = trusted(
  'selected::HUGEINT * greatest(total - inside, 1)::HUGEINT - (events - selected)::HUGEINT * greatest(inside, 1)::HUGEINT',
);

/**
 * The first values of a facet, folded where the field is. Columns: `value` (marked text), `events`, `selected`, `spellings` and, the same
 * in each row, the number of all values as `distinct`; in the order of the facet. It counts all values of the field.
 */
export function facetStatement(
  plan: SearchPlan,
  { field, limit, order }: FacetRequest,
  selection: Selection | null,
  events: SqlFragment,
): SqlStatement {
  const counted = sql`SELECT coalesce(${column(dimensionColumn(field))}, '') AS value, count(*) AS events,
    count(*) FILTER (WHERE ${isSelected(plan, selection, duckdbDialect)}) AS selected
    FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)} GROUP BY value`;
  const values = isFolded(field)
    ? sql`SELECT first(value ORDER BY events DESC, value) AS value, sum(events)::BIGINT AS events, sum(selected)::BIGINT AS selected,
        count(*) AS spellings FROM (${counted}) AS spelled GROUP BY ${duckdbDialect.fold(trusted('spelled.value'))}`
    : sql`SELECT *, 1 AS spellings FROM (${counted}) AS spelled`;
  const sums = sql`SELECT sum(events) AS total, sum(selected) AS inside, count(*) AS "distinct" FROM counted`;
  const byDifference = order === 'difference' ? sql`${DIFFERENCE} DESC, ` : NO_SQL;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${values}), sums AS MATERIALIZED (${sums})
      SELECT ${markText(trusted('value'))}, events, selected, spellings, "distinct" FROM counted, sums
      ORDER BY ${byDifference}events DESC, value LIMIT ${int64(limit)}`,
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
export function histogramStatement(
  plan: SearchPlan,
  request: HistogramRequest,
  series: SeriesValues | null,
  events: SqlFragment,
): SqlStatement {
  const bucket = bucketIn(plan, request);
  const matching = sql`WHERE ${matchSql(plan, plan.window, duckdbDialect)}`;
  if (series === null) {
    return duckdbStatement(
      sql`SELECT ${bucket} AS bucket, NULL AS position, count(*) AS events FROM ${events} ${matching} GROUP BY bucket`,
    );
  }
  const { by, values, hasFewValues } = series;
  const wanted = isFolded(by)
    ? foldedKeys(by, values)
    : wantedKeys(
        [by],
        values.map((value) => [value]),
      );
  if (!hasFewValues && !isFolded(by)) {
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

const bucketIn = (plan: SearchPlan, { window, buckets }: HistogramRequest) => bucketOf(window ?? plan.window, buckets, duckdbDialect);

/** As `wantedKeys` for one field, of which each spelling of a value has its position. */
function foldedKeys(field: GroupDimension, values: readonly string[]): SqlFragment {
  const rows = joinSql(values.map((value, index) => sql`(${int32(index)}, ${duckdbDialect.folded(value)})`));
  const folded = duckdbDialect.fold(sql`coalesce(${column(dimensionColumn(field))}, '')`);
  return sql`(VALUES ${rows}) AS wanted(position, key0) ON ${folded} = key0`;
}

/** What one statement finds of a question. */
export interface WantedAtOnce extends ListLimits {
  /** At least one. */
  readonly fields: readonly GroupDimension[];
  /** `by` is one of the fields. */
  readonly histogram: HistogramRequest | null;
  readonly selection: Selection | null;
  /** So many first values by difference. */
  readonly maxDiffering: number;
}

/**
 * Answers all of a question but its page, reading each event once. A row for each field, with the index of that as `field`, and one for all
 * events with the number of fields as `field`. Columns: `field`; `distinct`, the number of values; then the JSON texts of arrays: the first
 * values by count, their counts and their counts in the selection; with a selection, the same three by difference, else NULL. The histogram
 * is a further field, behind that of all events: its values are such as `12 DE`, the bucket and the value of the series. Instead of the
 * values of a list that are too long there is `TOO_LONG`.
 */
export function exploreOnceStatement(plan: SearchPlan, wanted: WantedAtOnce, events: SqlFragment): SqlStatement {
  const { fields, max, maxBytes, maxValueBytes, histogram, selection, maxDiffering } = wanted;
  const values = fields.map((field, index) => sql`coalesce(${column(dimensionColumn(field))}, '') AS ${fieldName(index)}`);
  const bucket = histogram === null ? NO_SQL : sql`, ${bucketIn(plan, histogram)} AS bucket`;
  const found = sql`SELECT ${joinSql(values)}, ${isSelected(plan, selection, duckdbDialect)} AS "isSelected"${bucket}
    FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}`;
  const { field, value, sets } = groupedAtOnce(wanted);
  const counted = sql`SELECT ${field} AS field, ${value} AS value, count(*) AS events, count(*) FILTER (WHERE "isSelected") AS selected
    FROM (${found}) AS found${sets}`;
  const sums = sql`SELECT events AS total, selected AS inside FROM counted WHERE field = ${int32(fields.length)}`;
  const listed = listedValue(maxValueBytes);
  const byCount = sql`min({'fewer': -events, ${listed}, 'selected': selected}, ${int64(max)})`;
  const byDifference = sql`min({'less': -(${DIFFERENCE}), 'fewer': -events, ${listed}, 'selected': selected}, ${int64(maxDiffering)})`;
  const kept = sql`SELECT field, count(*) AS "distinct", ${byCount} AS first, ${selection === null ? NO_VALUES : byDifference} AS different
    FROM counted, sums GROUP BY field`;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${counted}), sums AS MATERIALIZED (${sums})
      SELECT field, "distinct", ${listsOf('first', maxBytes)}, ${listsOf('different', maxBytes)} FROM (${kept}) AS kept`,
  );
}

const fieldName = (index: number) => trusted(`field${index}`);

/** By which field and value a row is grouped, and the grouping sets. */
function groupedAtOnce({ fields, histogram }: WantedAtOnce) {
  const names = [...fields.keys()].map(fieldName);
  const [field, value] = [groupedColumn(names), sql`coalesce(${joinSql(names)}, '')`];
  if (histogram === null) {
    return { field, value, sets: setsOf(names) };
  }
  const series = histogram.by === null ? NO_SQL : sql`, ${fieldName(fields.indexOf(histogram.by))}`;
  const isBucket = trusted('GROUPING(bucket) = 0');
  return {
    field: sql`CASE WHEN ${isBucket} THEN ${int32(fields.length + 1)} ELSE ${field} END`,
    value: sql`CASE WHEN ${isBucket} THEN bucket::VARCHAR || ' ' || ${value} ELSE ${value} END`,
    sets: setsOf(names, [sql`(bucket${series})`]),
  };
}

/** Instead of values by difference. */
const NO_VALUES = trusted('NULL::STRUCT(fewer BIGINT, value VARCHAR, "isLong" BOOLEAN, selected BIGINT)[]');

/** The values, counts and counts in the selection of a list as JSON texts. */
function listsOf(list: 'first' | 'different', maxBytes: number): SqlFragment {
  const counts = ['-one.fewer', 'one.selected'].map((part) => trusted(`to_json([${part} FOR one IN ${list}])::VARCHAR`));
  return joinSql([listedValues(trusted(list), maxBytes), ...counts]);
}

/** The zones with events of the search. Columns: zone, events, last time; by events descending, then by zone. */
export function activeZonesStatement(plan: SearchPlan, events: SqlFragment, dialect: Dialect): SqlStatement {
  return renderSql(
    sql`SELECT ${column('shieldZoneId')} AS zone, count(*) AS events, max(${column('timestamp')}) AS last
      FROM ${events} WHERE ${matchSql(plan, plan.window, dialect)} GROUP BY zone ORDER BY events DESC, zone`,
    dialect,
  );
}

/** A row of {@link activeZonesStatement}. */
export function activeZone([zoneId, events, lastMs]: readonly unknown[]) {
  return { zoneId: Number(zoneId), events: Number(events), lastMs: Number(lastMs) };
}

/**
 * The rules with events of the search, at most `limit`. Columns: rule and its most frequent name, the smaller of equals, empty where it has
 * none (marked texts); events. By events descending, then by rule.
 */
export function activeRulesStatement(plan: SearchPlan, limit: number, events: SqlFragment, dialect: Dialect): SqlStatement {
  const counted = sql`SELECT ${column('ruleId')} AS rule, coalesce(${column('ruleName')}, '') AS name, count(*) AS "inName"
    FROM ${events} WHERE ${matchSql(plan, plan.window, dialect)} AND ${column('ruleId')} <> '' GROUP BY rule, name`;
  const ranked = sql`SELECT rule, name, sum("inName") OVER (PARTITION BY rule) AS total,
      row_number() OVER (PARTITION BY rule ORDER BY name = '', "inName" DESC, name) AS place FROM (${counted}) AS counted`;
  return renderSql(
    sql`SELECT ${markText(trusted('rule'))}, ${markText(trusted('name'))}, total FROM (${ranked}) AS ranked
      WHERE place = 1 ORDER BY total DESC, rule LIMIT ${int64(limit)}`,
    dialect,
  );
}

/** A row of {@link activeRulesStatement}. */
export function activeRule([rule, name, events]: readonly unknown[]) {
  return { ruleId: unmarkText(rule as string), ruleName: unmarkText(name as string), events: Number(events) };
}

/**
 * Counts the events of a search by which of the conditions they meet, in one pass. A row for each set that some event meets, in no order.
 * Columns: a number with a bit for each condition of the set, the lowest for the first; events; events of the selection.
 */
export function combinationsStatement(
  plan: SearchPlan,
  conditions: readonly Predicate[],
  selection: Selection | null,
  events: SqlFragment,
  dialect: Dialect,
): SqlStatement {
  const bits = conditions.map((one, index) => sql`CASE WHEN ${predicateSql(one, dialect)} THEN ${int32(2 ** index)} ELSE 0 END`);
  return renderSql(
    sql`SELECT ${joinSql(bits, ' + ')} AS met, count(*), count(*) FILTER (WHERE ${isSelected(plan, selection, dialect)})
      FROM ${events} WHERE ${matchSql(plan, plan.window, dialect)} GROUP BY met`,
    dialect,
  );
}

const PLACES = [...new Array(MAX_COMBINED).keys()];

/** The rows of {@link combinationsStatement} in the order of the answer: count descending, then by the conditions. */
export function combinationsIn(rows: readonly (readonly unknown[])[]): readonly Combination[] {
  const found = rows.map((row) => {
    const [bits, count, selected] = row.map(Number) as [number, number, number];
    return { met: PLACES.filter((place) => ((bits >> place) & 1) === 1), count, selected };
  });
  return found.toSorted((a, b) => b.count - a.count || compareIndexes(a.met, b.met));
}

function compareIndexes(one: readonly number[], other: readonly number[]): number {
  const differing = one.findIndex((index, place) => index !== other[place]);
  return differing === -1 ? one.length - other.length : (one[differing] as number) - (other[differing] ?? -1);
}

import type { Dimension, GroupDimension } from '../../query/event-fields.ts';
import type { Selection } from '../../query/plan/explore-plan.ts';
import type { GroupsOutput, SearchPlan } from '../../query/plan/search-plan.ts';
import { bucketOf } from '../../sql/bucket-sql.ts';
import { column } from '../../sql/columns.ts';
import { duckdbDialect, duckdbStatement } from '../../sql/dialect.ts';
import { eventsRelation } from '../../sql/events-relation.ts';
import { isSelected, matchSql } from '../../sql/predicate-sql.ts';
import { int64, joinSql, type SqlFragment, type SqlStatement, sql, text, trusted } from '../../sql/statement.ts';

/**
 * Statements that somebody who knows DuckDB writes by hand for the questions of the race. They name each column as it is in the files, ask
 * for no log, bound nothing and remember nothing. The events and the conditions on them are written as the program writes them: other ways
 * took no less time.
 */

/** The events of these segments. */
export function eventsOf(segmentPaths: readonly string[]): SqlFragment {
  return eventsRelation([], segmentPaths, 0n);
}

const matching = (plan: SearchPlan) => matchSql(plan, plan.window, duckdbDialect);

/** Column: the number of events. */
export function countStatement(plan: SearchPlan, events: SqlFragment): SqlStatement {
  return duckdbStatement(sql`SELECT count(*) FROM ${events} WHERE ${matching(plan)}`);
}

/** Column: the JSON text of an array of the fields, each a text or null. */
export function rowsStatement(plan: SearchPlan, fields: readonly string[], events: SqlFragment): SqlStatement {
  const { index, size } = plan.page;
  const names = trusted(fields.map((name) => `"${name}"`).join(', '));
  const texts = trusted(fields.map((name) => `"${name}"::VARCHAR`).join(', '));
  return duckdbStatement(
    sql`SELECT to_json([${texts}])::VARCHAR FROM (SELECT ${names} FROM ${events} WHERE ${matching(plan)}
      ORDER BY "timestamp" DESC, "logId" LIMIT ${int64(size)} OFFSET ${int64(index * size)}) AS page
      ORDER BY "timestamp" DESC, "logId"`,
  );
}

const key = (index: number) => trusted(`key${index}`);
const keysOf = ({ by }: GroupsOutput) => joinSql(by.map((_, index) => key(index)));
const named = ({ by }: GroupsOutput) =>
  joinSql(by.map((dimension, index) => sql`coalesce(${column(dimension as Dimension)}, '') AS ${key(index)}`));

/** Columns: the number of all groups, the keys of a group of the page, its number of events. */
export function groupPageStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  const { index, size } = plan.page;
  const counted = sql`SELECT ${named(output)}, count(*) AS events FROM ${events} WHERE ${matching(plan)} GROUP BY ALL`;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${counted}) SELECT (SELECT count(*) FROM counted), ${keysOf(output)}, events FROM counted
      ORDER BY events DESC, ${keysOf(output)} LIMIT ${int64(size)} OFFSET ${int64(index * size)}`,
  );
}

/** Counts by value as the JSON text of an object. */
const counts = (value: SqlFragment) => sql`to_json(histogram(${value}))::VARCHAR`;

/** The facts of a group, as aggregates. */
function factsOf(plan: SearchPlan, { buckets }: GroupsOutput): SqlFragment {
  const bucket = buckets === 0 ? trusted("'{}'") : counts(bucketOf(plan.window, buckets, duckdbDialect));
  const ofAction = (action: string) => sql`count(*) FILTER (lower("action") = ${text(action)})`;
  return joinSql([
    trusted('count(*) AS events, min("timestamp"), max("timestamp")'),
    ...[column('country'), column('asn')].map(counts),
    ...['blocked', 'challenged', 'logged'].map(ofAction),
    ...['feature', 'ruleId'].map((name) => trusted(`to_json(list(DISTINCT "${name}") FILTER ("${name}" IS NOT NULL))::VARCHAR`)),
    bucket,
  ]);
}

/** The facts of the groups with these keys. Columns: the keys, and those of {@link factsOf}. */
export function groupFactsStatement(
  plan: SearchPlan,
  output: GroupsOutput,
  keys: readonly (readonly string[])[],
  events: SqlFragment,
): SqlStatement {
  const values = joinSql(keys.map((one) => sql`(${joinSql(one.map(text))})`));
  const same = joinSql(
    output.by.map((dimension, index) => sql`coalesce(${column(dimension as Dimension)}, '') = ${key(index)}`),
    ' AND ',
  );
  return duckdbStatement(
    sql`SELECT ${keysOf(output)}, ${factsOf(plan, output)} FROM ${events} JOIN (VALUES ${values}) AS wanted(${keysOf(output)}) ON ${same}
      WHERE ${matching(plan)} GROUP BY ${keysOf(output)}`,
  );
}

/** The facts of all groups, in the order of the answer, for few groups. Columns as those of {@link groupFactsStatement}. */
export function allGroupsStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  return duckdbStatement(
    sql`SELECT ${named(output)}, ${factsOf(plan, output)} FROM ${events} WHERE ${matching(plan)} GROUP BY ${keysOf(output)}
      ORDER BY events DESC, ${keysOf(output)}`,
  );
}

/** Columns: bucket, value of the series, events, selected events. */
export function histogramStatement(
  plan: SearchPlan,
  { buckets, by }: { readonly buckets: number; readonly by: GroupDimension | null },
  selection: Selection | null,
  events: SqlFragment,
): SqlStatement {
  const value = by === null ? trusted("''") : sql`coalesce(${column(by as Dimension)}, '')`;
  return duckdbStatement(
    sql`SELECT (${bucketOf(plan.window, buckets, duckdbDialect)})::DOUBLE AS bucket, ${value} AS value, count(*)::DOUBLE,
      count(*) FILTER (${isSelected(plan, selection, duckdbDialect)})::DOUBLE
      FROM ${events} WHERE ${matching(plan)} GROUP BY bucket, value`,
  );
}

/** What a facet lists first, and how many values. */
export interface FacetsAsked {
  readonly fields: readonly GroupDimension[];
  readonly limit: number;
  /** An expression that comes before the number of events, the smallest first. */
  readonly rank: SqlFragment;
}

/** Columns: the mask of the field (GROUPING), its number of values, and the JSON text of its first values. */
export function facetsStatement(
  plan: SearchPlan,
  { fields, limit, rank }: FacetsAsked,
  selection: Selection | null,
  events: SqlFragment,
): SqlStatement {
  const columns = fields.map((field) => column(field as Dimension));
  const sets = joinSql(columns.map((one) => sql`(${one})`));
  const grouped = sql`SELECT GROUPING(${joinSql(columns)}) AS mask, coalesce(${joinSql([...columns, trusted("''")])}) AS value,
      count(*) AS events, count(*) FILTER (${isSelected(plan, selection, duckdbDialect)}) AS selected
    FROM ${events} WHERE ${matching(plan)} GROUP BY GROUPING SETS (${sets})`;
  return duckdbStatement(
    sql`SELECT mask::DOUBLE, count(*)::DOUBLE,
      to_json(min({'rank': ${rank}, 'fewer': -events, 'value': value, 'selected': selected}, ${int64(limit)}))::VARCHAR
      FROM (${grouped}) AS grouped GROUP BY mask`,
  );
}

/** How much larger a value's share of the selection is than its share of the rest, times both totals, with a minus. */
export function differenceRank(inside: number, outside: number): SqlFragment {
  const [within, rest] = [Math.max(inside, 1), Math.max(outside, 1)];
  return sql`-(selected::HUGEINT * ${int64(rest)} - (events - selected)::HUGEINT * ${int64(within)})`;
}

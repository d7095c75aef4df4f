import type { GroupDimension } from '../query/event-fields.ts';
import type { GroupsOutput, SearchPlan } from '../query/plan/search-plan.ts';
import { column, dimensionColumn, type EventColumnName } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { matchSql, splitUrl } from './predicate-sql.ts';
import { int32, int64, joinSql, markText, type SqlFragment, type SqlStatement, sql, text, trusted } from './statement.ts';

/**
 * Phase one: one page of group keys in the order of the answer, and the number of all groups.
 * Columns: `total`, `key0` … (marked text), `events`; an empty page is one row in which all but `total` are NULL.
 *
 * A missing value groups under the empty string. Events are counted by the columns as they are, because engines do that twice as fast, and
 * the few groups with a missing value are merged afterwards.
 */
export function groupPageStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  return pageOfCounted(plan, output, countedSql(plan, output, events));
}

/** Counts the matching events by the columns as they are. Columns: `key0` …, `events`. */
function countedSql(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlFragment {
  const columns = keyList(output, (dimension, name) => sql`${column(dimensionColumn(dimension))} AS ${name}`);
  return sql`SELECT ${columns}, count(*) AS events FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}
    GROUP BY ${keyNames(output)}`;
}

/**
 * The page of groups that are counted with missing and empty values apart. Each relation selects from those before it. The groups without
 * missing values, of which there may be millions, are read as rarely as possible.
 */
function pageOfCounted(plan: SearchPlan, output: GroupsOutput, counted: SqlFragment): SqlStatement {
  const names = keyNames(output);
  const present = keyList(output, (_, name) => sql`${name} <> ''`, ' AND ');
  const blanks = keyList(output, (_, name) => sql`coalesce(${name}, '') AS ${name}`);
  const blank = sql`SELECT ${names}, sum(events)::BIGINT AS events, count(*) AS merged
    FROM (SELECT ${blanks}, events FROM counted WHERE (${present}) IS NOT TRUE) AS parts GROUP BY ${names}`;
  const page = sql`SELECT ${names}, events
    FROM (SELECT ${names}, events FROM counted WHERE ${present} UNION ALL SELECT ${names}, events FROM blank) AS grouped
    ${pageOf(plan, names)}`;
  const total = sql`(SELECT count(*) FROM counted) - (SELECT coalesce(sum(merged), 0)::BIGINT - count(*) FROM blank)`;
  return duckdbStatement(
    sql`WITH counted AS MATERIALIZED (${counted}), blank AS MATERIALIZED (${blank}), page AS (${page})
      SELECT ${total} AS total, ${markedKeys(output)}, events
      FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
  );
}

/** The order of groups, by events and then by key as text (asn 10 before 9, a missing value first), and the part that is on the page. */
export function pageOf({ page }: SearchPlan, names: SqlFragment): SqlFragment {
  return sql`ORDER BY events DESC, ${names} LIMIT ${int64(page.size)} OFFSET ${int64(page.index * page.size)}`;
}

/** Writes each dimension with the name of its key. */
export function keyList(
  { by }: GroupsOutput,
  write: (dimension: GroupDimension, name: SqlFragment) => SqlFragment,
  separator = ', ',
): SqlFragment {
  return joinSql(
    by.map((dimension, index) => write(dimension, keyName(index))),
    separator,
  );
}

/** `key0`, `key1` … */
export function keyNames(output: GroupsOutput): SqlFragment {
  return keyList(output, (_, name) => name);
}

/** The keys as marked texts. */
export function markedKeys(output: GroupsOutput): SqlFragment {
  return keyList(output, (_, name) => markText(name));
}

/** The name of the key of the nth dimension, from 0. */
const keyName = (index: number) => trusted(`key${index}`);

/** Counts from before: a table of the group-by cache with `key0` …, `events`, and the events that it has not counted. At least one. */
export interface CountedBefore {
  readonly table: string | undefined;
  readonly events: SqlFragment | undefined;
}

/** Phase one if some events are counted already. Columns: those of {@link groupPageStatement}. */
export function countedPageStatement(plan: SearchPlan, output: GroupsOutput, before: CountedBefore): SqlStatement {
  return pageOfCounted(plan, output, allCounted(plan, output, before));
}

/** Stores the counts of all groups in a new table: `key0` …, `events`. It gets `max + 1` rows if there are more than `max`. */
export function fillGroupByCacheStatement(
  plan: SearchPlan,
  output: GroupsOutput,
  table: string,
  before: CountedBefore,
  max: number,
): SqlStatement {
  const counted = allCounted(plan, output, before);
  return duckdbStatement(sql`CREATE TABLE ${trusted(table)} AS SELECT * FROM (${counted}) AS counted LIMIT ${int64(max + 1)}`);
}

/** The size of a table of groups. Columns: `groups`, `bytes` of their texts. */
export function groupByCacheSizeStatement(output: GroupsOutput, table: string): SqlStatement {
  const bytes = keyList(output, (_, name) => sql`coalesce(strlen(${name}), 0)`, ' + ');
  return duckdbStatement(sql`SELECT count(*) AS groups, coalesce(sum(${bytes}), 0)::BIGINT AS bytes FROM ${trusted(table)}`);
}

function allCounted(plan: SearchPlan, output: GroupsOutput, { table, events }: CountedBefore): SqlFragment {
  const names = keyNames(output);
  const parts = [
    ...(table === undefined ? [] : [sql`SELECT ${names}, events FROM ${trusted(table)}`]),
    ...(events === undefined ? [] : [countedSql(plan, output, events)]),
  ];
  return parts.length === 1
    ? (parts[0] as SqlFragment)
    : sql`SELECT ${names}, sum(events)::BIGINT AS events FROM (${joinSql(parts, ' UNION ALL ')}) AS parts GROUP BY ${names}`;
}

/** The factor of the group's index in {@link groupTimesStatement}; times are below it. */
export const TIMES_BELOW = 2 ** 32;

/**
 * The time of every event of the groups, in no order. Column: a double, the index of the group in `keys` times {@link TIMES_BELOW} plus the
 * milliseconds since `originMs`, which must be fewer than that.
 */
export function groupTimesStatement(
  plan: SearchPlan,
  { by }: GroupsOutput,
  keys: readonly (readonly string[])[],
  events: SqlFragment,
  originMs: number,
): SqlStatement {
  const time = sql`position::BIGINT * ${int64(TIMES_BELOW)} + ${column('timestamp')} - ${int64(originMs)}`;
  return duckdbStatement(
    sql`SELECT (${time})::DOUBLE AS placed FROM ${events} JOIN ${wantedKeys(by, keys)} WHERE ${matchSql(plan, plan.window, duckdbDialect)}`,
  );
}

/**
 * The keys as a relation `wanted` to join events with. Its column `position` is the index of the event's key in `keys`. An empty key
 * matches a missing value too.
 */
export function wantedKeys(by: readonly GroupDimension[], keys: readonly (readonly string[])[]): SqlFragment {
  const columns = by.flatMap(keyColumns);
  const rows = keys.flatMap((key, index) =>
    withMissing(by.flatMap((dimension, nth) => keyTexts(dimension, key[nth] ?? ''))).map((values) => [sql`${int32(index)}`, ...values]),
  );
  const values = joinSql(rows.map((row) => sql`(${joinSql(row)})`));
  const names = joinSql([trusted('position'), ...columns.map((_, index) => keyName(index))]);
  const hasBlank = keys.some((key) => key.includes(''));
  const equal = trusted(hasBlank ? 'IS NOT DISTINCT FROM' : '=');
  const sameKey = joinSql(
    columns.map((name, index) => sql`${column(name)} ${equal} wanted.${keyName(index)}`),
    ' AND ',
  );
  return sql`(VALUES ${values}) AS wanted(${names}) ON ${sameKey}`;
}

/** The columns by which values of the dimension are compared. */
export function keyColumns(dimension: GroupDimension): EventColumnName[] {
  return dimension === 'url' ? ['urlHead', 'urlTail'] : [dimensionColumn(dimension)];
}

/** The value in the columns of {@link keyColumns}; null is an empty or missing value. */
function keyTexts(dimension: GroupDimension, value: string): (string | null)[] {
  if (value === '') {
    return keyColumns(dimension).map(() => null);
  }
  return dimension === 'url' ? splitUrl(value) : [value];
}

/** All ways to write a key in which each null may be an empty or a missing value. */
function withMissing(key: readonly (string | null)[]): SqlFragment[][] {
  return key.reduce<SqlFragment[][]>(
    (ways, value) =>
      ways.flatMap((way) =>
        value === null
          ? [
              [...way, sql`''`],
              [...way, sql`NULL`],
            ]
          : [[...way, sql`${text(value)}`]],
      ),
    [[]],
  );
}

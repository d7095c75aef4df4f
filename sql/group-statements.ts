import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { markText } from './marked-text.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';

const keyName = (position: number) => trusted(`key${position}`);

/** A missing value groups under the empty string. */
const keyValue = (dimension: Dimension) => sql`coalesce(${column(dimension)}, '')`;

/**
 * Phase one: one page of group keys in the order of the answer, and the number of all groups.
 * Columns: `total`, `key0` … (marked text), `events`; an empty page is one row in which all but `total` are NULL.
 */
export function groupPageStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment, dialect: Dialect): SqlStatement {
  const keys = joinSql(
    output.by.map((dimension, position) => sql`${keyValue(dimension)} AS ${keyName(position)}`),
    ', ',
  );
  const names = joinSql(
    output.by.map((_, position) => keyName(position)),
    ', ',
  );
  const marked = joinSql(
    output.by.map((_, position) => markText(keyName(position))),
    ', ',
  );
  const offset = plan.page.index * plan.page.size;
  return renderSql(
    sql`WITH grouped AS MATERIALIZED (SELECT ${keys}, count(*) AS events FROM ${events} WHERE ${matchSql(plan, plan.window, dialect)} GROUP BY ${names}), page AS (SELECT * FROM grouped ORDER BY events DESC, ${names} LIMIT ${int64(plan.page.size)} OFFSET ${int64(offset)}) SELECT (SELECT count(*) FROM grouped) AS total, ${marked}, events FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
    dialect.placeholder,
  );
}

/** The columns whose values phase two counts within each group; a name's place from the right is its bit in `absent`. */
export const COUNTED_COLUMNS = ['country', 'asn', 'action', 'feature', 'ruleId'] as const;

/** `absent` of the rows that count sparkline buckets: all of {@link COUNTED_COLUMNS} are absent, the bucket is not. */
export const BUCKET_ROW = 0b011111;

/** `absent` of the one row a group that has its first and last time: nothing but the group itself is present. */
export function groupRow(buckets: number): number {
  return buckets > 0 ? 0b111111 : 0b011111;
}

/** `absent` of the rows that count the values of one of {@link COUNTED_COLUMNS}. */
export function valueRow(counted: (typeof COUNTED_COLUMNS)[number], buckets: number): number {
  return groupRow(buckets) & ~(1 << (COUNTED_COLUMNS.length - 1 - COUNTED_COLUMNS.indexOf(counted)));
}

/**
 * Phase two: everything about one page's groups, in one pass over their events. A row counts the `events` of the group at `position` in
 * `keys` that share one bucket, or one value of one column (NULL: events that lack it), or all of them, with the first and last time;
 * `absent` tells which of these it is. Columns: position, absent, bucket if any, the counted columns (marked text), events, firstSeen, lastSeen.
 */
export function groupDetailStatement(
  plan: SearchPlan,
  output: GroupsOutput,
  keys: readonly (readonly string[])[],
  events: SqlFragment,
  dialect: Dialect,
): SqlStatement {
  const { fromMs, toMs } = plan.window;
  const elapsed = sql`(${column('timestamp')} - ${int64(fromMs)}) * ${int64(output.buckets)}`;
  const bucket = sql`${dialect.divide(sql`(${elapsed})`, sql`${int64(toMs - fromMs)}`)} AS bucket`;
  const facts = [...(output.buckets > 0 ? [trusted('bucket')] : []), ...COUNTED_COLUMNS.map(column)];
  const factNames = joinSql(facts, ', ');
  const factsRead = joinSql(
    [...(output.buckets > 0 ? [trusted('bucket')] : []), ...COUNTED_COLUMNS.map((name) => markText(column(name)))],
    ', ',
  );
  const factValues = COUNTED_COLUMNS.map((name) =>
    name === 'action' ? sql`${dialect.fold(column(name))} AS ${column(name)}` : column(name),
  );
  const inner = joinSql([trusted('position'), column('timestamp'), ...factValues, ...(output.buckets > 0 ? [bucket] : [])], ', ');
  const wanted = joinSql(
    keys.map((key, position) => sql`(${joinSql([sql`${int32(position)}`, ...key.map((value) => sql`${text(value)}`)], ', ')})`),
    ', ',
  );
  const wantedNames = joinSql([trusted('position'), ...output.by.map((_, position) => keyName(position))], ', ');
  const sameKey = joinSql(
    output.by.map((dimension, position) => sql`${keyValue(dimension)} = wanted.${keyName(position)}`),
    ' AND ',
  );
  const sets = joinSql([trusted('(position)'), ...facts.map((fact) => sql`(position, ${fact})`)], ', ');
  return renderSql(
    sql`SELECT position, GROUPING(${factNames}) AS absent, ${factsRead}, count(*) AS events, min(${column('timestamp')}) AS "firstSeen", max(${column('timestamp')}) AS "lastSeen" FROM (SELECT ${inner} FROM ${events} JOIN (VALUES ${wanted}) AS wanted(${wantedNames}) ON ${sameKey} WHERE ${matchSql(plan, plan.window, dialect)}) AS matching GROUP BY GROUPING SETS (${sets})`,
    dialect.placeholder,
  );
}

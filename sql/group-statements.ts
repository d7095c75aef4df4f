import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int64, joinSql, type SqlFragment, sql, trusted } from './fragment.ts';
import { bucketColumn, factRows, factsSql } from './group-facts.ts';
import { markText } from './marked-text.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';
import { keyName, wantedKeys } from './wanted-keys.ts';

/**
 * Phase one: one page of group keys in the order of the answer, and the number of all groups.
 * Columns: `total`, `key0` … (marked text), `events`; an empty page is one row in which all but `total` are NULL.
 *
 * A missing value groups under the empty string. Events are counted by the columns as they are, because engines are twice as fast at that,
 * and the few groups with something missing are put together afterwards.
 */
export function groupPageStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment, dialect: Dialect): SqlStatement {
  return pageOfCounted(plan, output, countedSql(output, sql`${events} WHERE ${matchSql(plan, plan.window, dialect)}`), dialect);
}

/** The same of groups as they are `counted`, with a missing value and an empty one apart: `key0` …, `events`. */
export function pageOfCounted(plan: SearchPlan, output: GroupsOutput, counted: SqlFragment, dialect: Dialect): SqlStatement {
  const { blank, page, total, names } = pageSql(plan, output);
  const marked = keyList(output, (_, name) => markText(name));
  return renderSql(
    sql`WITH counted AS MATERIALIZED (${counted}), blank AS MATERIALIZED (${blank}), page AS (${page}) SELECT ${total} AS total, ${marked}, events FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
    dialect.placeholder,
  );
}

/** Counts events by the columns as they are. Columns: `key0` …, `events`. */
export function countedSql(output: GroupsOutput, matching: SqlFragment): SqlFragment {
  const columns = keyList(output, (dimension, name) => sql`${column(dimension)} AS ${name}`);
  return sql`SELECT ${columns}, count(*) AS events FROM ${matching} GROUP BY ${keyList(output, (_, name) => name)}`;
}

/**
 * How one page of groups comes about from the relation `counted` ({@link countedSql}), step by step: every relation selects from the ones
 * before, whose names are those of the members. The groups without anything missing, of which there may be millions, are gone through as
 * rarely as can be.
 */
function pageSql(plan: SearchPlan, output: GroupsOutput) {
  const names = keyList(output, (_, name) => name);
  const present = keyList(output, (_, name) => sql`${name} <> ''`, ' AND ');
  const blanks = keyList(output, (_, name) => sql`coalesce(${name}, '') AS ${name}`);
  return {
    names,
    blank: sql`SELECT ${names}, sum(events)::BIGINT AS events, count(*) AS merged FROM (SELECT ${blanks}, events FROM counted WHERE (${present}) IS NOT TRUE) AS parts GROUP BY ${names}`,
    page: sql`SELECT ${names}, events FROM (SELECT ${names}, events FROM counted WHERE ${present} UNION ALL SELECT ${names}, events FROM blank) AS grouped ${pageOf(plan, names)}`,
    total: trusted('(SELECT count(*) FROM counted) - (SELECT coalesce(sum(merged), 0)::BIGINT - count(*) FROM blank)'),
  };
}

/** Which of the groups are on the page, and in which order. */
export function pageOf({ page }: SearchPlan, names: SqlFragment): SqlFragment {
  return sql`ORDER BY events DESC, ${names} LIMIT ${int64(page.size)} OFFSET ${int64(page.index * page.size)}`;
}

/** Something for each dimension and the name of its key. */
export function keyList(
  { by }: GroupsOutput,
  write: (dimension: Dimension, name: SqlFragment) => SqlFragment,
  separator = ', ',
): SqlFragment {
  return joinSql(
    by.map((dimension, position) => write(dimension, keyName(position))),
    separator,
  );
}

/**
 * Phase two: everything about one page's groups, in one pass over their events. Columns: those of `factRows`.
 *
 * `place` is the group's position in `keys`, or where the page is `whole`, has every group there is, the one key itself (marked text): then
 * nothing has to be joined.
 */
export function groupDetailStatement(
  plan: SearchPlan,
  output: GroupsOutput,
  { keys, isWhole }: GroupPage,
  events: SqlFragment,
  dialect: Dialect,
): SqlStatement {
  const direct = isDirect(output, isWhole);
  const groups = direct
    ? { from: column(output.by[0] as Dimension), join: trusted(''), place: markText(trusted("coalesce(place, '')")) }
    : { from: trusted('position'), join: sql` JOIN ${wantedKeys(output.by, keys)}`, place: trusted('place') };
  const matching = sql`(SELECT ${groups.from} AS place, ${column('timestamp')}, "country", "asn", "action", "feature", "ruleId"${bucketColumn(plan, output, dialect)} FROM ${events}${groups.join} WHERE ${matchSql(plan, plan.window, dialect)}) AS matching`;
  const source = { output, matching, place: groups.place };
  return renderSql(sql`WITH facts AS MATERIALIZED (${factsSql(source)}) ${factRows(source, dialect)}`, dialect.placeholder);
}

/** One page of group keys. */
export interface GroupPage {
  readonly keys: readonly (readonly string[])[];
  /** There are no other groups. */
  readonly isWhole: boolean;
}

/** Whether the `place` of {@link groupDetailStatement} is the key itself. */
export function isDirect({ by }: GroupsOutput, isWhole: boolean): boolean {
  return isWhole && by.length === 1;
}

import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, joinSql, type SqlFragment, sql, trusted } from './fragment.ts';
import { bucketColumn, factRows, factsSql } from './group-facts.ts';
import { keyList, pageOf } from './group-statements.ts';
import { markText } from './marked-text.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';

/** What only {@link groupOnceStatement} has rows about. */
export const PAGE_ROWS = {
  /** A group of the page: its keys are in the columns behind the others. */
  key: -1,
  /** How many groups there are: in `events`; the row has no place. */
  total: -2,
} as const;

/**
 * Both phases in one statement, for events that are few enough to be kept while they are grouped and looked at again: they are found once.
 * Columns: those of `factRows`, and behind them `key0` … (marked text). `absent` may also be one of {@link PAGE_ROWS}. `place` is the
 * group's position in the page.
 */
export function groupOnceStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment, dialect: Dialect): SqlStatement {
  const keys = keyList(output, (dimension, name) => sql`coalesce(${column(dimension)}, '') AS ${name}`);
  const found = sql`SELECT ${keys}${TOLD}${bucketColumn(plan, output, dialect)} FROM ${events} WHERE ${matchSql(plan, plan.window, dialect)}`;
  const names = keyList(output, (_, name) => name);
  const counted = sql`SELECT ${names}, count(*) AS events FROM found GROUP BY ${names}`;
  const ranked = sql`SELECT row_number() OVER (ORDER BY events DESC, ${names}) - 1 AS place, events, ${names} FROM (SELECT ${names}, events FROM counted ${pageOf(plan, names)}) AS page`;
  const sameKey = keyList(output, (_, name) => sql`found.${name} = page.${name}`, ' AND ');
  const source = { output, matching: sql`found JOIN page ON ${sameKey}`, place: trusted('place') };
  const noKeys = keyList(output, () => trusted('NULL'));
  const marked = keyList(output, (_, name) => markText(name));
  return renderSql(
    sql`WITH found AS MATERIALIZED (${found}), counted AS MATERIALIZED (${counted}), page AS MATERIALIZED (${ranked}), facts AS MATERIALIZED (${factsSql(source)}) SELECT *, ${noKeys} FROM (${factRows(source, dialect)}) AS about UNION ALL SELECT place, ${int32(PAGE_ROWS.key)}, NULL, NULL, NULL, NULL, events, NULL, NULL, NULL, ${marked} FROM page UNION ALL SELECT NULL, ${int32(PAGE_ROWS.total)}, NULL, NULL, NULL, NULL, count(*), NULL, NULL, NULL, ${noKeys} FROM counted`,
    dialect.placeholder,
  );
}

/** What is said of groups. */
const TOLD = joinSql([trusted(''), ...(['timestamp', 'country', 'asn', 'action', 'feature', 'ruleId'] as const).map(column)], ', ');

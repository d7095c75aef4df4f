import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int64, joinSql, type SqlFragment, sql, trusted } from './fragment.ts';
import { countedSql, keyList, pageOfCounted } from './group-statements.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';
import { wantedKeys } from './wanted-keys.ts';

/**
 * Groups that are counted already and the events that are not: a table of the store's own with `key0` …, `events`, and a relation of
 * events.
 */
export interface CountedBefore {
  readonly table: string | undefined;
  /** Undefined: there are none. */
  readonly events: SqlFragment | undefined;
}

/** Keeps the counts of all groups in a new table: `key0` …, `events`. It gets one row more than `most` where there are more than that. */
export function fillGroupByCacheStatement(
  plan: SearchPlan,
  output: GroupsOutput,
  table: string,
  before: CountedBefore,
  most: number,
): SqlStatement {
  return renderSql(
    sql`CREATE TABLE ${trusted(table)} AS SELECT * FROM (${allCounted(plan, output, before, duckdbDialect)}) AS counted LIMIT ${int64(most + 1)}`,
    duckdbDialect.placeholder,
  );
}

/** How large a table of groups is. Columns: `groups`, `bytes` of their texts. */
export function groupByCacheSizeStatement(output: GroupsOutput, table: string): SqlStatement {
  const bytes = keyList(output, (_, name) => sql`coalesce(strlen(${name}), 0)`, ' + ');
  return renderSql(
    sql`SELECT count(*) AS groups, coalesce(sum(${bytes}), 0)::BIGINT AS bytes FROM ${trusted(table)}`,
    duckdbDialect.placeholder,
  );
}

/** Phase one of a search of which some is counted already. Columns: those of `groupPageStatement`. */
export function countedPageStatement(plan: SearchPlan, output: GroupsOutput, before: CountedBefore, dialect: Dialect): SqlStatement {
  return pageOfCounted(plan, output, allCounted(plan, output, before, dialect), dialect);
}

function allCounted(plan: SearchPlan, output: GroupsOutput, { table, events }: CountedBefore, dialect: Dialect): SqlFragment {
  const names = keyList(output, (_, name) => name);
  const parts = [
    ...(table === undefined ? [] : [sql`SELECT ${names}, events FROM ${trusted(table)}`]),
    ...(events === undefined ? [] : [countedSql(output, sql`${events} WHERE ${matchSql(plan, plan.window, dialect)}`)]),
  ];
  return parts.length === 1
    ? (parts[0] as SqlFragment)
    : sql`SELECT ${names}, sum(events)::BIGINT AS events FROM (${joinSql(parts, ' UNION ALL ')}) AS parts GROUP BY ${names}`;
}

/** What a place is multiplied by in {@link groupTimesStatement}: times are below. */
export const TIMES_BELOW = 2 ** 32;

/**
 * The time of every event of the groups, in no order. Column: `placed`, a double: the group's position in `keys` times {@link TIMES_BELOW},
 * and the milliseconds since `originMs`, which must be fewer than that.
 */
export function groupTimesStatement(
  plan: SearchPlan,
  { by }: GroupsOutput,
  keys: readonly (readonly string[])[],
  events: SqlFragment,
  originMs: number,
  dialect: Dialect,
): SqlStatement {
  return renderSql(
    sql`SELECT (position::BIGINT * ${int64(TIMES_BELOW)} + ${column('timestamp')} - ${int64(originMs)})::DOUBLE AS placed FROM ${events} JOIN ${wantedKeys(by, keys)} WHERE ${matchSql(plan, plan.window, dialect)}`,
    dialect.placeholder,
  );
}

import type { GroupDimension } from '../query/event-fields.ts';
import type { GroupsOutput, SearchPlan } from '../query/plan/search-plan.ts';
import { column } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { keyColumns } from './group-statements.ts';
import { matchSql } from './predicate-sql.ts';
import { int64, joinSql, markText, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/**
 * The columns by which groups are told apart, with missing values as empty ones, and what is made of them. Sorting by them sorts by the
 * keys, because the part of a url up to its first `?` decides before the rest.
 */
interface KeyParts {
  readonly selected: SqlFragment;
  readonly names: SqlFragment;
  readonly fingerprint: SqlFragment;
  /** Each key as marked text. */
  readonly marked: SqlFragment;
}

function keyParts(by: readonly GroupDimension[]): KeyParts {
  const parts = by
    .flatMap((dimension, key) => keyColumns(dimension).map((name) => ({ key, name })))
    .map((part, index) => ({ ...part, alias: trusted(`part${index}`) }));
  const names = joinSql(parts.map(({ alias }) => alias));
  const aliasesOf = (wanted: number) => parts.filter(({ key }) => key === wanted).map(({ alias }) => alias);
  return {
    selected: joinSql(parts.map(({ name, alias }) => sql`coalesce(${column(name)}, '') AS ${alias}`)),
    names,
    fingerprint: sql`hash(${names})`,
    marked: joinSql(by.map((_, key) => markText(joinSql(aliasesOf(key), ' || ')))),
  };
}

const matching = (plan: SearchPlan, { selected }: KeyParts, events: SqlFragment) =>
  sql`(SELECT ${selected} FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}) AS matching`;

/**
 * The answer of `groupPageStatement` in less time and memory if nearly all groups are singletons, and in more if many are not. It sorts
 * fingerprints of eight bytes, which takes less time than grouping them, and counts the events that share a fingerprint by their texts. An
 * event with a fingerprint of its own is a singleton group, so collisions of fingerprints do not change the answer.
 */
export function groupFingerprintStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  const parts = keyParts(output.by);
  const { names, fingerprint, marked } = parts;
  const found = matching(plan, parts, events);
  const { index, size } = plan.page;
  const sorted = sql`SELECT fingerprint, lead(fingerprint) OVER (ORDER BY fingerprint) AS following
    FROM (SELECT ${fingerprint} AS fingerprint FROM ${found}) AS fingerprints`;
  const sizes = sql`SELECT count(*) AS events, list(fingerprint) FILTER (WHERE fingerprint = following) AS shared
    FROM (${sorted}) AS sorted`;
  const several = sql`SELECT ${names}, count(*) AS events FROM ${found} WHERE ${fingerprint} IN (FROM shared) GROUP BY ${names}`;
  const single = sql`SELECT ${names}, 1::BIGINT AS events FROM ${found}
    WHERE ${fingerprint} NOT IN (FROM shared) ORDER BY ${names} LIMIT ${int64((index + 1) * size)}`;
  const page = sql`SELECT ${names}, events FROM (FROM several UNION ALL (${single})) AS grouped
    ORDER BY events DESC, ${names} LIMIT ${int64(size)} OFFSET ${int64(index * size)}`;
  const total = sql`(SELECT events FROM sizes) - (SELECT coalesce(sum(events), 0)::BIGINT - count(*) FROM several)`;
  return duckdbStatement(
    sql`WITH sizes AS MATERIALIZED (${sizes}), shared AS MATERIALIZED (SELECT DISTINCT unnest(shared) AS fingerprint FROM sizes),
      several AS MATERIALIZED (${several}), page AS (${page})
      SELECT ${total} AS total, ${marked}, events FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
  );
}

/** The number of events and, about, of groups among at most `max` matching events. Columns: `events`, `groups`. */
export function groupSampleStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment, max: number): SqlStatement {
  const parts = keyParts(output.by);
  return duckdbStatement(
    sql`SELECT count(*) AS events, count(DISTINCT ${parts.fingerprint}) AS groups
      FROM (FROM ${matching(plan, parts, events)} LIMIT ${int64(max)}) AS sample`,
  );
}

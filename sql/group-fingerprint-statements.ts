import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column } from './columns.ts';
import { duckdbDialect } from './duckdb-dialect.ts';
import { int64, joinSql, type SqlFragment, sql, trusted } from './fragment.ts';
import { markText } from './marked-text.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';
import { keyColumns } from './wanted-keys.ts';

/**
 * The columns that groups are told apart by, a missing value being an empty one, and what is made of them. Their order is that of the keys:
 * a part of a url before its first `?` decides, and only then the part behind it.
 */
interface KeyParts {
  readonly selected: SqlFragment;
  readonly names: SqlFragment;
  readonly fingerprint: SqlFragment;
  /** Each key as marked text. */
  readonly marked: SqlFragment;
}

function keyParts(by: readonly Dimension[]): KeyParts {
  const parts = by.flatMap((dimension, key) => keyColumns(dimension).map((name) => ({ key, name })));
  const list = (write: (name: SqlFragment, place: number) => SqlFragment) =>
    joinSql(
      parts.map((_, place) => write(trusted(`part${place}`), place)),
      ', ',
    );
  const names = list((name) => name);
  const ofKey = (key: number) =>
    joinSql(
      parts.flatMap((part, place) => (part.key === key ? [trusted(`part${place}`)] : [])),
      ' || ',
    );
  return {
    selected: list((name, place) => sql`coalesce(${column((parts[place] as (typeof parts)[number]).name)}, '') AS ${name}`),
    names,
    fingerprint: sql`hash(${names})`,
    marked: joinSql(
      by.map((_, key) => markText(ofKey(key))),
      ', ',
    ),
  };
}

const matching = (plan: SearchPlan, { selected }: KeyParts, events: SqlFragment) =>
  sql`(SELECT ${selected} FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}) AS matching`;

/**
 * What `groupPageStatement` says, found in a way that takes less time and memory where hardly any event has a group with another, and more
 * where many do. Events are counted by a fingerprint of eight bytes; those that share theirs are counted once more by their texts. Whoever
 * is alone with one is alone in its group, so no two texts with the same fingerprint can make a difference.
 */
export function groupFingerprintStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  const parts = keyParts(output.by);
  const { names, fingerprint, marked } = parts;
  const found = matching(plan, parts, events);
  const { index, size } = plan.page;
  const counted = sql`SELECT ${fingerprint} AS fingerprint, count(*) AS events FROM ${found} GROUP BY fingerprint`;
  const several = sql`SELECT ${names}, count(*) AS events FROM ${found} WHERE ${fingerprint} IN (FROM shared) GROUP BY ${names}`;
  const single = sql`SELECT ${names}, 1::BIGINT AS events FROM ${found} WHERE ${fingerprint} NOT IN (FROM shared) ORDER BY ${names} LIMIT ${int64((index + 1) * size)}`;
  const page = sql`SELECT ${names}, events FROM (FROM several UNION ALL (${single})) AS grouped ORDER BY events DESC, ${names} LIMIT ${int64(size)} OFFSET ${int64(index * size)}`;
  const total = trusted('(SELECT count(*) FROM counted WHERE events = 1) + (SELECT count(*) FROM several)');
  return renderSql(
    sql`WITH counted AS MATERIALIZED (${counted}), shared AS MATERIALIZED (SELECT fingerprint FROM counted WHERE events > 1), several AS MATERIALIZED (${several}), page AS (${page}) SELECT ${total} AS total, ${marked}, events FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
    duckdbDialect.placeholder,
  );
}

/** Of `most` matching events: how many there are, and about how many groups they make. Columns: `events`, `groups`. */
export function groupSampleStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment, most: number): SqlStatement {
  const parts = keyParts(output.by);
  return renderSql(
    sql`SELECT count(*) AS events, count(DISTINCT ${parts.fingerprint}) AS groups FROM (FROM ${matching(plan, parts, events)} LIMIT ${int64(most)}) AS sample`,
    duckdbDialect.placeholder,
  );
}

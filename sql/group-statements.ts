import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column, type EventColumnName } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { bucketColumn, factRows, factsSql } from './group-facts.ts';
import { markText } from './marked-text.ts';
import { matchSql } from './row-statements.ts';
import { renderSql, type SqlStatement } from './statement.ts';
import { splitUrl } from './text-match.ts';

const keyName = (position: number) => trusted(`key${position}`);

/**
 * Phase one: one page of group keys in the order of the answer, and the number of all groups.
 * Columns: `total`, `key0` … (marked text), `events`; an empty page is one row in which all but `total` are NULL.
 *
 * A missing value groups under the empty string. Events are counted by the columns as they are, because engines are twice as fast at that, and the few
 * groups with something missing are put together afterwards.
 */
export function groupPageStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment, dialect: Dialect): SqlStatement {
  const { counted, blank, page, total, names } = pageSql(plan, output, sql`${events} WHERE ${matchSql(plan, plan.window, dialect)}`);
  const marked = keyList(output, (_, name) => markText(name));
  return renderSql(
    sql`WITH counted AS MATERIALIZED (${counted}), blank AS MATERIALIZED (${blank}), page AS (${page}) SELECT ${total} AS total, ${marked}, events FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
    dialect.placeholder,
  );
}

/**
 * How one page of groups comes about, step by step: every relation selects from the ones before, whose names are those of the members. The groups
 * without anything missing, of which there may be millions, are gone through as rarely as can be.
 */
export function pageSql({ page }: SearchPlan, output: GroupsOutput, matching: SqlFragment) {
  const names = keyList(output, (_, name) => name);
  const columns = keyList(output, (dimension, name) => sql`${column(dimension)} AS ${name}`);
  const present = keyList(output, (_, name) => sql`${name} <> ''`, ' AND ');
  const blanks = keyList(output, (_, name) => sql`coalesce(${name}, '') AS ${name}`);
  return {
    names,
    counted: sql`SELECT ${columns}, count(*) AS events FROM ${matching} GROUP BY ${names}`,
    blank: sql`SELECT ${names}, sum(events)::BIGINT AS events, count(*) AS merged FROM (SELECT ${blanks}, events FROM counted WHERE (${present}) IS NOT TRUE) AS parts GROUP BY ${names}`,
    page: sql`SELECT ${names}, events FROM (SELECT ${names}, events FROM counted WHERE ${present} UNION ALL SELECT ${names}, events FROM blank) AS grouped ORDER BY events DESC, ${names} LIMIT ${int64(page.size)} OFFSET ${int64(page.index * page.size)}`,
    total: trusted('(SELECT count(*) FROM counted) - (SELECT coalesce(sum(merged), 0)::BIGINT - count(*) FROM blank)'),
  };
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
 * `place` is the group's position in `keys`, or where the page is `whole`, has every group there is, the one key itself (marked text): then nothing
 * has to be joined.
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

/** The keys as a relation `wanted` with the condition that an event is in one of them. An empty key stands for a missing value too. */
function wantedKeys(by: readonly Dimension[], keys: readonly (readonly string[])[]): SqlFragment {
  const parts = by.flatMap(keyColumns);
  const rows = keys.flatMap((key, position) =>
    withMissing(by.flatMap((dimension, place) => keyTexts(dimension, key[place] ?? ''))).map((values) => [
      sql`${int32(position)}`,
      ...values,
    ]),
  );
  const values = joinSql(
    rows.map((row) => sql`(${joinSql(row, ', ')})`),
    ', ',
  );
  const names = joinSql([trusted('position'), ...parts.map((_, place) => keyName(place))], ', ');
  const hasBlank = keys.some((key) => key.includes(''));
  const equal = trusted(hasBlank ? 'IS NOT DISTINCT FROM' : '=');
  const sameKey = joinSql(
    parts.map((part, place) => sql`${column(part)} ${equal} wanted.${keyName(place)}`),
    ' AND ',
  );
  return sql`(VALUES ${values}) AS wanted(${names}) ON ${sameKey}`;
}

/** The columns that an event's value of the dimension is compared in. */
function keyColumns(dimension: Dimension): EventColumnName[] {
  return dimension === 'url' ? ['urlHead', 'urlTail'] : [dimension];
}

/** The value as it is in those columns; null: an empty or missing value. */
function keyTexts(dimension: Dimension, value: string): (string | null)[] {
  if (value === '') {
    return keyColumns(dimension).map(() => null);
  }
  return dimension === 'url' ? splitUrl(value) : [value];
}

/** Every way to write the key, each value that is null being empty or missing. */
function withMissing(key: readonly (string | null)[]): SqlFragment[][] {
  return key.reduce<SqlFragment[][]>(
    (ways, value) =>
      ways.flatMap((way) =>
        value === null
          ? [
              [...way, sql`''`],
              [...way, trusted('NULL')],
            ]
          : [[...way, sql`${text(value)}`]],
      ),
    [[]],
  );
}

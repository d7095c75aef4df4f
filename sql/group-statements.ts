import type { Dimension } from '../query/dimensions.ts';
import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column, type EventColumnName } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
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
  const list = (write: (dimension: Dimension, name: SqlFragment) => SqlFragment, separator = ', ') =>
    joinSql(
      output.by.map((dimension, position) => write(dimension, keyName(position))),
      separator,
    );
  const names = list((_, name) => name);
  const columns = list((dimension, name) => sql`${column(dimension)} AS ${name}`);
  const present = list((_, name) => sql`${name} <> ''`, ' AND ');
  const blanks = list((_, name) => sql`coalesce(${name}, '') AS ${name}`);
  const marked = list((_, name) => markText(name));
  const offset = plan.page.index * plan.page.size;
  return renderSql(
    sql`WITH counted AS MATERIALIZED (SELECT ${columns}, count(*) AS events FROM ${events} WHERE ${matchSql(plan, plan.window, dialect)} GROUP BY ${names}), grouped AS (SELECT ${names}, events FROM counted WHERE ${present} UNION ALL SELECT ${names}, sum(events) FROM (SELECT ${blanks}, events FROM counted WHERE (${present}) IS NOT TRUE) AS blank GROUP BY ${names}), page AS (SELECT * FROM grouped ORDER BY events DESC, ${names} LIMIT ${int64(plan.page.size)} OFFSET ${int64(offset)}) SELECT (SELECT count(*) FROM grouped) AS total, ${marked}, events FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY events DESC, ${names}`,
    dialect.placeholder,
  );
}

/** What a row of phase two is about, by its `absent`. */
export const DETAIL_ROWS = {
  /** All events by sparkline bucket: `listed` is `bucket:events`, comma-separated, in no order, maybe several times the same bucket. */
  buckets: 0b111,
  /** The events from one country and asn. */
  origin: 0b011,
  /** The events of one action (folded) and feature; the only rows with the first and last time. */
  verdict: 0b101,
  /** All distinct rules: `listed` is what the answer says of them (marked text). */
  rules: 0b110,
} as const;

/**
 * Phase two: everything about one page's groups, in one pass over their events, which are first counted by bucket, origin, verdict and rule.
 * Columns: place, absent ({@link DETAIL_ROWS}), country, asn, action, feature (marked text all four; NULL: the events that lack it), events,
 * firstSeen, lastSeen, listed.
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
  const { fromMs, toMs } = plan.window;
  const elapsed = sql`(${column('timestamp')} - ${int64(fromMs)}) * ${int64(output.buckets)}`;
  const hasBuckets = output.buckets > 0;
  const bucket = hasBuckets ? sql`, ${dialect.divide(sql`(${elapsed})`, sql`${int64(toMs - fromMs)}`)} AS bucket` : trusted('');
  const direct = isDirect(output, isWhole);
  const groups = direct
    ? { from: column(output.by[0] as Dimension), join: trusted(''), place: markText(trusted("coalesce(place, '')")) }
    : { from: trusted('position'), join: sql` JOIN ${wantedKeys(output.by, keys)}`, place: trusted('place') };
  const bucketSet = trusted(hasBuckets ? ', (place, bucket)' : '');
  const bucketColumn = trusted(hasBuckets ? 'bucket, ' : '');
  const texts = joinSql(
    [markText(column('country')), markText(column('asn')), markText(dialect.fold(column('action'))), markText(column('feature'))],
    ', ',
  );
  const listed = (row: number, list: SqlFragment) =>
    sql` UNION ALL SELECT ${groups.place} AS place, any_value(absent), NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${list} FROM facts WHERE absent = ${int32(row)} GROUP BY ${groups.place}`;
  const buckets = hasBuckets ? listed(DETAIL_ROWS.buckets, trusted("string_agg(bucket || ':' || events, ',')")) : trusted('');
  const rules = listed(DETAIL_ROWS.rules, markText(trusted(`string_agg(DISTINCT "ruleId", ',' ORDER BY "ruleId")`)));
  return renderSql(
    sql`WITH facts AS MATERIALIZED (SELECT place, GROUPING("country", "action", "ruleId") AS absent, ${bucketColumn}"country", "asn", "action", "feature", "ruleId", count(*) AS events, min(${column('timestamp')}) AS "firstSeen", max(${column('timestamp')}) AS "lastSeen" FROM (SELECT ${groups.from} AS place, ${column('timestamp')}, "country", "asn", "action", "feature", "ruleId"${bucket} FROM ${events}${groups.join} WHERE ${matchSql(plan, plan.window, dialect)}) AS matching GROUP BY GROUPING SETS ((place, "country", "asn"), (place, "action", "feature"), (place, "ruleId")${bucketSet})) SELECT ${groups.place} AS place, absent, ${texts}, events, "firstSeen", "lastSeen", NULL AS listed FROM facts WHERE absent IN (${int32(DETAIL_ROWS.origin)}, ${int32(DETAIL_ROWS.verdict)})${buckets}${rules}`,
    dialect.placeholder,
  );
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

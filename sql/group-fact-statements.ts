import type { GroupDimension } from '../query/event-fields.ts';
import type { GroupsOutput, SearchPlan } from '../query/plan/search-plan.ts';
import { bucketOf } from './bucket-sql.ts';
import { column, dimensionColumn } from './columns.ts';
import { duckdbDialect, duckdbStatement } from './dialect.ts';
import { keyList, keyNames, markedKeys, pageOf, wantedKeys } from './group-statements.ts';
import { matchSql } from './predicate-sql.ts';
import { int32, joinSql, markText, NO_SQL, type SqlFragment, type SqlStatement, sql, trusted } from './statement.ts';

/** One page of group keys. */
export interface GroupPage {
  readonly keys: readonly (readonly string[])[];
  /** There are no other groups. */
  readonly isWhole: boolean;
}

/** A statement about the groups of one page, in one pass over their events. */
function factStatement(rowsOf: (source: FactsSource) => SqlFragment) {
  return (plan: SearchPlan, output: GroupsOutput, page: GroupPage, events: SqlFragment): SqlStatement => {
    const source = factsOfPage(plan, output, page, events);
    return duckdbStatement(sql`WITH facts AS MATERIALIZED (${factsSql(source)}) ${rowsOf(source)}`);
  };
}

/**
 * Phase two: the facts about the groups of one page, in one pass over their events. Columns: those of {@link factRows}. `place` is the
 * index of the group in `keys`, or the only key itself (marked text) if {@link isDirect}: then nothing has to be joined. At most one row
 * more than {@link MAX_FACTS} allows.
 */
export const groupDetailStatement = factStatement((source) => limited(factRows(source), MAX_FACTS.rows));

/** The same, with at most one row more than {@link MAX_ADDED_FACTS}. */
export const groupFactsToAddStatement = factStatement((source) => limited(factRows(source), MAX_ADDED_FACTS.rows));

/** The same for groups with many or long values, of which the engine makes the texts of the contexts: see {@link finishedRows}. */
export const groupContextStatement = factStatement(finishedRows);

function limited(rows: SqlFragment, maxRows: number): SqlFragment {
  return sql`SELECT * FROM (${rows}) AS about LIMIT ${int32(maxRows + 1)}`;
}

function factsOfPage(plan: SearchPlan, output: GroupsOutput, { keys, isWhole }: GroupPage, events: SqlFragment): FactsSource {
  const groups = isDirect(output, isWhole)
    ? { from: column(dimensionColumn(output.by[0] as GroupDimension)), join: NO_SQL, place: markText(trusted("coalesce(place, '')")) }
    : { from: trusted('position'), join: sql` JOIN ${wantedKeys(output.by, keys)}`, place: trusted('place') };
  const matching = sql`(SELECT ${groups.from} AS place${FACT_COLUMNS}${bucketColumn(plan, output)}
    FROM ${events}${groups.join} WHERE ${matchSql(plan, plan.window, duckdbDialect)}) AS matching`;
  return { output, matching, place: groups.place };
}

/** Whether the `place` of {@link groupDetailStatement} is the key itself: the page has all groups of one dimension. */
export function isDirect({ by }: GroupsOutput, isWhole: boolean): boolean {
  return isWhole && by.length === 1;
}

/** Values of `absent` in the rows that only {@link groupOnceStatement} has. */
export const PAGE_ROWS = {
  /** A group of the page. Its keys are in the columns after the others. */
  key: -1,
  /** The number of groups is in `events`. The row has no `place`. */
  total: -2,
} as const;

/**
 * Both phases in one statement, which finds the events once and keeps them while it groups them, so they must be few. Columns: those of
 * {@link factRows}, then `key0` … (marked text). `absent` may also be one of {@link PAGE_ROWS}. `place` is the index of the group in the
 * page.
 */
export function groupOnceStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  const keys = keyList(output, (dimension, name) => sql`coalesce(${column(dimensionColumn(dimension))}, '') AS ${name}`);
  const found = sql`SELECT ${keys}${FACT_COLUMNS}${bucketColumn(plan, output)}
    FROM ${events} WHERE ${matchSql(plan, plan.window, duckdbDialect)}`;
  const names = keyNames(output);
  const counted = sql`SELECT ${names}, count(*) AS events FROM found GROUP BY ${names}`;
  const ranked = sql`SELECT row_number() OVER (ORDER BY events DESC, ${names}) - 1 AS place, events, ${names}
    FROM (SELECT ${names}, events FROM counted ${pageOf(plan, names)}) AS page`;
  const sameKey = keyList(output, (_, name) => sql`found.${name} = page.${name}`, ' AND ');
  const source = { output, matching: sql`found JOIN page ON ${sameKey}`, place: trusted('place') };
  const noKeys = keyList(output, () => trusted('NULL'));
  return duckdbStatement(
    sql`WITH found AS MATERIALIZED (${found}), counted AS MATERIALIZED (${counted}), page AS MATERIALIZED (${ranked}),
      facts AS MATERIALIZED (${factsSql(source)})
      SELECT *, ${noKeys} FROM (${limited(factRows(source), MAX_FACTS.rows)}) AS about
      UNION ALL
      SELECT place, ${int32(PAGE_ROWS.key)}, NULL, NULL, NULL, NULL, events, NULL, NULL, NULL, ${markedKeys(output)} FROM page
      UNION ALL
      SELECT NULL, ${int32(PAGE_ROWS.total)}, NULL, NULL, NULL, NULL, count(*), NULL, NULL, NULL, ${noKeys} FROM counted`,
  );
}

/** The columns that facts are made of, after another column. */
const FACT_COLUMNS = joinSql([NO_SQL, ...(['timestamp', 'country', 'asn', 'action', 'feature', 'ruleId'] as const).map(column)]);

/** The sparkline bucket of an event as a further column; nothing if the plan has no buckets. */
function bucketColumn({ window }: SearchPlan, { buckets }: GroupsOutput): SqlFragment {
  return buckets > 0 ? sql`, ${bucketOf(window, buckets, duckdbDialect)} AS bucket` : NO_SQL;
}

/** The events of the groups to be counted, with `place`, {@link FACT_COLUMNS} and, if the plan has buckets, `bucket`. */
interface FactsSource {
  readonly output: GroupsOutput;
  readonly matching: SqlFragment;
  /** `place` as it is selected for the answer. */
  readonly place: SqlFragment;
}

/**
 * The most rows that {@link factRows} gives, and the most bytes of one of their texts and lists. Where groups have more or longer values,
 * {@link groupContextStatement} is to be asked instead.
 */
export const MAX_FACTS = { rows: 20_000, textBytes: 1_024, listBytes: 16 * 1024 };

/**
 * The most facts that are added to others for one answer, which takes some ten milliseconds. They are read once for many answers, so more
 * of them are worth their reading than {@link MAX_FACTS} has.
 */
export const MAX_ADDED_FACTS = { rows: 60_000, characters: 8 * 1024 * 1024 };

/** Stands for a text or a list that is too long. Texts begin with a dot, and lists with a bracket. */
export const TOO_LONG = '-';

/** An aggregate: the texts that are not NULL as the text of a JSON array, in no order; NULL if there are none. */
function listOf(value: SqlFragment): SqlFragment {
  return sql`to_json(list(${value}) FILTER (${value} IS NOT NULL))::VARCHAR`;
}

/** Counts the events by bucket, origin, action and rule, in one pass. */
function factsSql({ output, matching }: FactsSource): SqlFragment {
  const [bucket, bucketSet] = output.buckets > 0 ? [sql`bucket, `, sql`, (place, bucket)`] : [NO_SQL, NO_SQL];
  return sql`SELECT place, GROUPING("country", "action", "ruleId") AS absent, ${bucket}"country", "asn", "action", "feature", "ruleId",
    count(*) AS events, min(${column('timestamp')}) AS "firstSeen", max(${column('timestamp')}) AS "lastSeen" FROM ${matching}
    GROUP BY GROUPING SETS ((place, "country", "asn"), (place, "action", "feature"), (place, "ruleId")${bucketSet})`;
}

/** The kind of a row about a group, by its `absent`. */
export const DETAIL_ROWS = {
  /** All events by sparkline bucket: `listed` is a JSON array of `bucket:events`, in no order. */
  buckets: 0b111,
  /** The events from one country and asn. */
  origin: 0b011,
  /** The events of one action (folded) and feature; the only rows with the first and last time. */
  action: 0b101,
  /** All rules: `listed` is a JSON array of them, in no order, NULL if there are none. */
  rules: 0b110,
} as const;

/** The kinds of the rows of {@link groupContextStatement} whose `listed` is a text of the context (marked; no row: there is no value). */
export const FINISHED_ROWS = {
  country: -3,
  asn: -4,
  features: -5,
  ruleIds: -6,
} as const;

/**
 * Selects the rows about every group from the relation `facts`. Columns: place, absent ({@link DETAIL_ROWS}), country, asn, action, feature
 * (marked text; NULL: the events that lack it; or {@link TOO_LONG}), events, firstSeen, lastSeen, listed.
 */
function factRows({ output, place }: FactsSource): SqlFragment {
  const values = [column('country'), column('asn'), duckdbDialect.fold(column('action')), column('feature')];
  // A row about rules has no bucket, one about buckets no rule.
  const [lists, listed] =
    output.buckets > 0
      ? [sql`${int32(DETAIL_ROWS.rules)}, ${int32(DETAIL_ROWS.buckets)}`, sql`coalesce(${column('ruleId')}, bucket || ':' || events)`]
      : [int32(DETAIL_ROWS.rules), column('ruleId')];
  const tooLong = sql`'${trusted(TOO_LONG)}'`;
  const textOf = (value: SqlFragment) =>
    sql`CASE WHEN strlen(${value}) > ${int32(MAX_FACTS.textBytes)} THEN ${tooLong} ELSE ${markText(value)} END`;
  const list = sql`CASE WHEN sum(strlen(${column('ruleId')})) > ${int32(MAX_FACTS.listBytes)} THEN ${tooLong}
      ELSE ${listOf(listed)} END`;
  return sql`SELECT ${place} AS place, absent, ${joinSql(values.map(textOf))}, events, "firstSeen", "lastSeen", NULL AS listed
    FROM facts WHERE absent IN (${int32(DETAIL_ROWS.origin)}, ${int32(DETAIL_ROWS.action)})
    UNION ALL
    SELECT ${place} AS place, absent, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${list}
    FROM facts WHERE absent IN (${lists}) GROUP BY ${place}, absent`;
}

/**
 * The same with the texts of the contexts made by the engine. Actions have no feature, and NULL for an action that the context does not
 * count; there are no origins and rules, but {@link FINISHED_ROWS}.
 */
function finishedRows({ output, place }: FactsSource): SqlFragment {
  const { origin, action: ofAction, buckets, rules } = DETAIL_ROWS;
  // Groups whose events lack the dimension have two places in the facts, and one in the answer.
  const ofKind = (kind: number, listed: SqlFragment, from: SqlFragment): SqlFragment =>
    sql`SELECT place, ${int32(kind)}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${listed} FROM (${from}) AS of_kind GROUP BY place`;
  const distinct = (kind: number, name: 'feature' | 'ruleId', within: number): SqlFragment =>
    ofKind(
      kind,
      markText(sql`string_agg(${column(name)}, ',' ORDER BY ${column(name)})`),
      sql`SELECT DISTINCT ${place} AS place, ${column(name)} FROM facts
        WHERE absent = ${int32(within)} AND ${column(name)} IS NOT NULL`,
    );
  const mostFrequent = (kind: number, name: 'country' | 'asn'): SqlFragment =>
    ofKind(
      kind,
      markText(sql`first(${column(name)} ORDER BY events DESC, ${column(name)})`),
      sql`SELECT ${place} AS place, ${column(name)}, sum(events) AS events FROM facts
        WHERE absent = ${int32(origin)} AND ${column(name)} IS NOT NULL GROUP BY ${place}, ${column(name)}`,
    );
  const action = duckdbDialect.fold(column('action'));
  const counted = sql`CASE WHEN ${action} IN ('blocked', 'challenged', 'logged') THEN ${action} END`;
  const all = [
    sql`SELECT ${place} AS place, absent, NULL, NULL, ${markText(counted)}, NULL,
      sum(events)::BIGINT, min("firstSeen"), max("lastSeen"), NULL
    FROM facts WHERE absent = ${int32(ofAction)} GROUP BY ${place}, absent, ${counted}`,
    mostFrequent(FINISHED_ROWS.country, 'country'),
    mostFrequent(FINISHED_ROWS.asn, 'asn'),
    distinct(FINISHED_ROWS.features, 'feature', ofAction),
    distinct(FINISHED_ROWS.ruleIds, 'ruleId', rules),
    ...(output.buckets > 0
      ? [
          ofKind(
            buckets,
            listOf(trusted("bucket || ':' || events")),
            sql`SELECT ${place} AS place, bucket, events FROM facts WHERE absent = ${int32(buckets)}`,
          ),
        ]
      : []),
  ];
  return joinSql(all, '\n    UNION ALL\n    ');
}

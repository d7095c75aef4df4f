import type { GroupsOutput, SearchPlan } from '../query/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, trusted } from './fragment.ts';
import { markText } from './marked-text.ts';

/** What a row about groups is about, by its `absent`. */
export const DETAIL_ROWS = {
  /** All events by sparkline bucket: `listed` is a JSON array of `bucket:events`, in no order. */
  buckets: 0b111,
  /** The events from one country and asn. */
  origin: 0b011,
  /** The events of one action (folded) and feature; the only rows with the first and last time. */
  verdict: 0b101,
  /** All rules: `listed` is a JSON array of them, in no order, NULL where there are none. */
  rules: 0b110,
} as const;

/** The number of an event's sparkline bucket as a further column to select; nothing where there are none. */
export function bucketColumn({ window }: SearchPlan, { buckets }: GroupsOutput, dialect: Dialect): SqlFragment {
  const elapsed = sql`(${column('timestamp')} - ${int64(window.fromMs)}) * ${int64(buckets)}`;
  return buckets > 0 ? sql`, ${dialect.divide(sql`(${elapsed})`, sql`${int64(window.toMs - window.fromMs)}`)} AS bucket` : trusted('');
}

/** The events of the groups as they are counted: `place` says of which group, and there is a `bucket` where there are any. */
export interface FactsSource {
  readonly output: GroupsOutput;
  readonly matching: SqlFragment;
  /** What stands for a place in the answer. */
  readonly place: SqlFragment;
}

/** The events counted by bucket, origin, verdict and rule, in one pass. */
export function factsSql({ output, matching }: FactsSource): SqlFragment {
  const [bucket, bucketSet] = output.buckets > 0 ? [trusted('bucket, '), trusted(', (place, bucket)')] : [trusted(''), trusted('')];
  return sql`SELECT place, GROUPING("country", "action", "ruleId") AS absent, ${bucket}"country", "asn", "action", "feature", "ruleId", count(*) AS events, min(${column('timestamp')}) AS "firstSeen", max(${column('timestamp')}) AS "lastSeen" FROM ${matching} GROUP BY GROUPING SETS ((place, "country", "asn"), (place, "action", "feature"), (place, "ruleId")${bucketSet})`;
}

/**
 * Selects what there is to say of every group from the relation `facts`. Columns: place, absent ({@link DETAIL_ROWS}), country, asn,
 * action, feature (marked text all four; NULL: the events that lack it), events, firstSeen, lastSeen, listed.
 */
export function factRows({ output, place }: Pick<FactsSource, 'output' | 'place'>, dialect: Dialect): SqlFragment {
  const texts = joinSql(
    [markText(column('country')), markText(column('asn')), markText(dialect.fold(column('action'))), markText(column('feature'))],
    ', ',
  );
  // A row about rules has no bucket, one about buckets no rule.
  const [lists, listed] =
    output.buckets > 0
      ? [sql`${int32(DETAIL_ROWS.rules)}, ${int32(DETAIL_ROWS.buckets)}`, sql`coalesce(${column('ruleId')}, bucket || ':' || events)`]
      : [int32(DETAIL_ROWS.rules), column('ruleId')];
  return sql`SELECT ${place} AS place, absent, ${texts}, events, "firstSeen", "lastSeen", NULL AS listed FROM facts WHERE absent IN (${int32(DETAIL_ROWS.origin)}, ${int32(DETAIL_ROWS.verdict)}) UNION ALL SELECT ${place} AS place, absent, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${dialect.listOf(listed)} FROM facts WHERE absent IN (${lists}) GROUP BY ${place}, absent`;
}

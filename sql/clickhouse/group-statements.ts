import type { GroupsOutput, SearchPlan, TimeWindow } from '../../query/plan/search-plan.ts';
import { bucketOf } from '../bucket-sql.ts';
import { column, dimensionColumn } from '../columns.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { keyList, keyNames, pageOf } from '../group-statements.ts';
import { matchSql } from '../predicate-sql.ts';
import { joinSql, NO_SQL, type SqlFragment, type SqlParam, type SqlStatement, sql, textList, trusted } from '../statement.ts';

/** The keys of an event; a missing value is the empty text. */
const keyValues = (output: GroupsOutput) => keyList(output, (dimension) => sql`ifNull(${column(dimensionColumn(dimension))}, '')`);

const namedKeys = (output: GroupsOutput) =>
  keyList(output, (dimension, name) => sql`ifNull(${column(dimensionColumn(dimension))}, '') AS ${name}`);

/** One page of groups in the order of the answer. Columns: `key0` …, `events`. The rows before the limit are the number of all groups. */
export function groupKeysStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  const names = keyNames(output);
  return clickhouseStatement(
    sql`SELECT ${namedKeys(output)}, count() AS events FROM ${events} WHERE ${matchSql(plan, plan.window, clickhouseDialect)}
      GROUP BY ${names} ${pageOf(plan, names)}`,
  );
}

/**
 * One page of groups in the order of the answer, each with its facts; the columns are those of {@link groupFactsStatement}. It works out
 * the facts of every group, so that it is for few of them. The rows before the limit are the number of all groups.
 */
export function fewGroupsStatement(plan: SearchPlan, output: GroupsOutput, events: SqlFragment): SqlStatement {
  const names = keyNames(output);
  return clickhouseStatement(
    sql`SELECT ${groupFacts(plan, output)} FROM ${events} WHERE ${matchSql(plan, plan.window, clickhouseDialect)}
      GROUP BY ${names} ${pageOf(plan, names)}`,
  );
}

/**
 * The facts about the groups with these keys, in no order. Columns: `key0` …, the number of events, the first and the last time, the most
 * frequent country and asn (the smallest by code point of equals), the numbers of blocked, challenged and logged events, the features and
 * the rules ascending, and, if the plan has buckets, the number of events in each.
 */
export function groupFactsStatement(
  plan: SearchPlan,
  output: GroupsOutput,
  { keys, isWhole }: { readonly keys: readonly (readonly string[])[]; readonly isWhole: boolean },
  events: SqlFragment,
): SqlStatement {
  const lists = output.by.map((_, nth) => textList(keys.map((key) => key[nth] ?? '')));
  const wanted = lists.length === 1 ? sql`${lists[0] as SqlParam}` : sql`arrayZip(${joinSql(lists)})`;
  const isWanted = isWhole ? NO_SQL : sql` AND (${keyValues(output)}) IN ${wanted}`;
  return clickhouseStatement(
    sql`SELECT ${groupFacts(plan, output)} FROM ${events}
      WHERE ${matchSql(plan, plan.window, clickhouseDialect)}${isWanted} GROUP BY ${keyNames(output)}`,
  );
}

function groupFacts(plan: SearchPlan, output: GroupsOutput): SqlFragment {
  const time = column('timestamp');
  const sparkline = output.buckets === 0 ? NO_SQL : sql`, ${eventsByBucket(plan.window, output.buckets)}`;
  const actions = ['blocked', 'challenged', 'logged'].map(
    (action) => sql`countIf(${clickhouseDialect.fold(column('action'))} = '${trusted(action)}')`,
  );
  return sql`${namedKeys(output)}, count() AS events, min(${time}), max(${time}), ${mostFrequent('country')}, ${mostFrequent('asn')},
      ${joinSql(actions)}, ${distinct('feature')}, ${distinct('ruleId')}${sparkline}`;
}

/** An aggregate: a list with the number of events in each bucket. */
export function eventsByBucket(window: TimeWindow, buckets: number): SqlFragment {
  return sql`countResample(0, ${trusted(String(buckets))}, 1)(${bucketOf(window, buckets, clickhouseDialect)})`;
}

/** The most frequent value, the smallest by code point of equals; the empty text where there is none. */
function mostFrequent(name: 'country' | 'asn'): SqlFragment {
  const value = column(name);
  const counts = sql`CAST(sumMapIf(map(assumeNotNull(${value}), toUInt64(1)), ${value} IS NOT NULL), 'Array(Tuple(String, UInt64))')`;
  return sql`arrayMin(one -> (-toInt64(one.2), one.1), arrayPushBack(${counts}, ('', toUInt64(0)))).2`;
}

/** The different values, ascending by code point. */
function distinct(name: 'feature' | 'ruleId'): SqlFragment {
  return sql`arrayStringConcat(arraySort(groupUniqArray(${column(name)})), ',')`;
}

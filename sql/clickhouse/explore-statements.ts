import { type GroupDimension, isFolded } from '../../query/event-fields.ts';
import { foldText } from '../../query/match/match-event.ts';
import type { HistogramRequest, Selection } from '../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { column, dimensionColumn } from '../columns.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { isSelected, matchSql } from '../predicate-sql.ts';
import { int32, int64, joinSql, NO_SQL, type SqlFragment, type SqlStatement, sql, textList, trusted } from '../statement.ts';
import { eventsByBucket } from './group-statements.ts';

/** Statements of the explorer: what values the fields of a search's events have, and when the events were. */

const value = (field: GroupDimension) => sql`ifNull(${column(dimensionColumn(field))}, '')`;

/** One row: the number of events, of those in the selection and, with a histogram, of those in each of its buckets. */
export function totalsStatement(
  plan: SearchPlan,
  selection: Selection | null,
  histogram: HistogramRequest | null,
  events: SqlFragment,
): SqlStatement {
  const counts = histogram === null ? NO_SQL : sql`, ${countsIn(plan, histogram)}`;
  return clickhouseStatement(
    sql`SELECT count(), countIf(${isSelected(plan, selection, clickhouseDialect)})${counts} FROM ${events}
      WHERE ${matchSql(plan, plan.window, clickhouseDialect)}`,
  );
}

const countsIn = (plan: SearchPlan, { window, buckets }: HistogramRequest) => eventsByBucket(window ?? plan.window, buckets);

/** What is wanted of the values of some fields. */
export interface WantedFacets {
  /** At least one, each once. */
  readonly fields: readonly GroupDimension[];
  readonly selection: Selection | null;
  /** The fields whose first values by count are wanted, and how many. */
  readonly byCount: FirstValues;
  /** The fields whose first values by difference are wanted, and how many. */
  readonly byDifference: FirstValues;
  /** The numbers of the events of the search and of the selection, which differences are worked out of. */
  readonly totals: { readonly total: number; readonly selected: number };
}

export interface FirstValues {
  readonly fields: readonly GroupDimension[];
  readonly max: number;
}

/**
 * The values of some fields, in one pass over the events. A row for each field that has events. Columns: a number with a bit for each
 * field, the highest for the first, of which only that of the field is 0; the number of its values; its first values by count, then those
 * by difference, each a list of `[value, events, selected, spellings]`. Either all of the fields are folded or none.
 */
export function facetValuesStatement(plan: SearchPlan, wanted: WantedFacets, events: SqlFragment, areSharded = false): SqlStatement {
  const { fields, byCount, byDifference } = wanted;
  const spelled = areSharded ? valuesOfShards(plan, wanted, events) : valuesOf(plan, wanted, events);
  const counted = fields.some(isFolded) ? foldedValues(spelled) : sql`SELECT *, toInt64(1) AS spellings FROM (${spelled}) AS spelled`;
  const first = firstValues(byCount, fields, NO_SQL);
  const different = firstValues(byDifference, fields, sql`-(${difference(wanted)}), `);
  return clickhouseStatement(sql`SELECT field, count(), ${first}, ${different} FROM (${counted}) AS counted GROUP BY field`);
}

/** Each value of each field with its events: a number for the field, the value, the number of events and that of those selected. */
function valuesOf(plan: SearchPlan, { fields, selection }: WantedFacets, events: SqlFragment): SqlFragment {
  const names = fields.map((_, index) => trusted(`value${index}`));
  const values = fields.map((field, index) => sql`${value(field)} AS ${names[index] as SqlFragment}`);
  const found = sql`SELECT ${joinSql(values)}, ${isSelected(plan, selection, clickhouseDialect)} AS "isSelected" FROM ${events}
    WHERE ${matchSql(plan, plan.window, clickhouseDialect)}`;
  const sets = joinSql(names.map((name) => sql`(${name})`));
  return sql`SELECT grouping(${joinSql(names)}) AS field, coalesce(${joinSql(names)}, '') AS value, toInt64(count()) AS events,
    toInt64(countIf("isSelected")) AS selected FROM (${found}) AS found GROUP BY GROUPING SETS (${sets})`;
}

/** The same, for which each shard counts its own events instead of sending them: it is not asked for the rows of a subquery. */
function valuesOfShards(plan: SearchPlan, { fields, selection }: WantedFacets, events: SqlFragment): SqlFragment {
  const values = fields.map(value);
  const sets = joinSql(values.map((one) => sql`(${one})`));
  return sql`SELECT grouping(${joinSql(values)}) AS field, coalesce(${joinSql(values)}, '') AS value, toInt64(count()) AS events,
    toInt64(countIf(${isSelected(plan, selection, clickhouseDialect)})) AS selected
    FROM ${events} WHERE ${matchSql(plan, plan.window, clickhouseDialect)} GROUP BY GROUPING SETS (${sets})`;
}

/** Values that are equal in lower case as one, the most frequent spelling. */
function foldedValues(spelled: SqlFragment): SqlFragment {
  return sql`SELECT field, tupleElement(min((-"inSpelling", spelling)), 2) AS value, sum("inSpelling") AS events,
      sum("selectedInSpelling") AS selected, toInt64(count()) AS spellings
    FROM (SELECT field, value AS spelling, events AS "inSpelling", selected AS "selectedInSpelling" FROM (${spelled}) AS spelled) AS renamed
    GROUP BY field, ${clickhouseDialect.fold(trusted('spelling'))}`;
}

/** The number of the rows of a field, by the index of that. */
export function fieldMask(index: number, fields: number): number {
  return 2 ** fields - 1 - 2 ** (fields - 1 - index);
}

/** An aggregate: the first values in the order of `rank`, of events and of the value itself. */
function firstValues({ fields, max }: FirstValues, all: readonly GroupDimension[], rank: SqlFragment): SqlFragment {
  if (fields.length === 0) {
    return trusted('[]');
  }
  const masks = joinSql(fields.map((field) => sql`${int32(fieldMask(all.indexOf(field), all.length))}`));
  const sorted = sql`groupArraySortedIf(${trusted(String(max))})((${rank}-events, value, selected, spellings), field IN (${masks}))`;
  const [events, text, selected, spellings] = [4, 3, 2, 1].map((fromEnd) => trusted(`tupleElement(one, -${fromEnd})`)) as [
    SqlFragment,
    SqlFragment,
    SqlFragment,
    SqlFragment,
  ];
  return sql`arrayMap(one -> (${text}, -${events}, ${selected}, ${spellings}), ${sorted})`;
}

/**
 * How much larger a value's share of the selection is than its share of the rest, times both totals. The product is a whole number, so
 * values compare exactly. The total of an empty side is 1, as all of its counts are 0.
 */
function difference({ totals: { total, selected } }: WantedFacets): SqlFragment {
  const [inside, outside] = [Math.max(selected, 1), Math.max(total - selected, 1)];
  return sql`toInt128(selected) * ${int64(outside)} - toInt128(events - selected) * ${int64(inside)}`;
}

/**
 * The events of each bucket by the value of a field, folded where that is. Columns: `position`, the place of the value in `values`, from
 * 1, or 0 for all others; the number of events in each bucket.
 */
export function seriesStatement(
  plan: SearchPlan,
  histogram: HistogramRequest & { readonly by: GroupDimension; readonly values: readonly string[] },
  events: SqlFragment,
): SqlStatement {
  const { by, values } = histogram;
  const [names, name] = isFolded(by) ? [values.map(foldText), clickhouseDialect.fold(value(by))] : [values, value(by)];
  return clickhouseStatement(
    sql`SELECT indexOf(${textList(names)}, ${name}) AS position, ${countsIn(plan, histogram)} FROM ${events}
      WHERE ${matchSql(plan, plan.window, clickhouseDialect)} GROUP BY position`,
  );
}

import { foldText } from '../../../query/match/match-event.ts';
import { compareCodePoints } from '../runtime/compare-code-points.ts';

export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** How many events have each value of a field; missing values are the empty text. */
export interface FieldCounts {
  /** Number of all values. */
  readonly distinct: number;
  /** The values with the most events, in the order of a facet. All others come after the last of them. */
  readonly first: readonly ValueCount[];
}

/** The values in the order of a facet by count. */
export function inOrder<T extends ValueCount>(values: readonly T[]): T[] {
  return values.toSorted(compareByCount);
}

/** Orders values by their number of events, the most first, then by code point. */
function compareByCount(a: ValueCount, b: ValueCount): number {
  return b.count - a.count || compareCodePoints(a.value, b.value);
}

/** Whether the first values are all of the field. */
export function isWhole({ distinct, first }: FieldCounts): boolean {
  return first.length === distinct;
}

/** Whether every value that is not among the first has one event. */
export function areOthersSingle({ first }: FieldCounts): boolean {
  return first.at(-1)?.count === 1;
}

/** The number of all events. It is known only where all values are, or where each of the others has one event. */
export function eventCountOf({ distinct, first }: FieldCounts): number {
  return first.reduce((sum, { count }) => sum + count, distinct - first.length);
}

/** The first `max` of the values. */
export function atMost({ distinct, first }: FieldCounts, max: number): FieldCounts {
  return { distinct, first: first.length > max ? first.slice(0, max) : first };
}

/** The counts of a field of which all values are known, after those of some have changed by so much. */
export function withChanges({ first }: FieldCounts, changes: readonly ValueCount[]): FieldCounts {
  const counts = new Map(first.map(({ value, count }) => [value, count]));
  for (const { value, count } of changes) {
    counts.set(value, (counts.get(value) ?? 0) + count);
  }
  const left = Array.from(counts, ([value, count]) => ({ value, count })).filter(({ count }) => count > 0);
  return { distinct: left.length, first: inOrder(left) };
}

/**
 * The counts of a field of which only the first values are known, after those of some have changed by so much. `now`: how many events have
 * each of these now. A value that is not among the first stays unknown unless it now comes before the last one of them.
 */
export function withRecounted({ distinct, first }: FieldCounts, changes: readonly ValueCount[], now: readonly number[]): FieldCounts {
  const changed = new Set(changes.map(({ value }) => value));
  const last = first.at(-1) as ValueCount;
  const recounted = changes.map(({ value }, index) => ({ value, count: now[index] as number }));
  const wereThere = changes.filter(({ count }, index) => (now[index] as number) > count).length;
  const areThere = recounted.filter(({ count }) => count > 0);
  const known = [...first.filter(({ value }) => !changed.has(value)), ...areThere.filter((one) => compareByCount(one, last) <= 0)];
  return { distinct: distinct - wereThere + areThere.length, first: inOrder(known) };
}

export interface SelectedCount extends ValueCount {
  /** Number of its events in the selection. */
  readonly selected: number;
}

/** Values that are equal in lower case, as one: the most frequent spelling, with the sums of all. */
export interface FoldedCount extends SelectedCount {
  readonly spellings: number;
}

/** Folds all values of a field. They come in the order of a facet by count. */
export function foldedCounts(values: readonly SelectedCount[]): FoldedCount[] {
  const folded = Map.groupBy(inOrder(values), ({ value }) => foldText(value));
  return inOrder(
    Array.from(folded.values(), (spelled) => {
      const sum = (of: 'count' | 'selected') => spelled.reduce((total, one) => total + one[of], 0);
      return { value: spelled[0]?.value ?? '', count: sum('count'), selected: sum('selected'), spellings: spelled.length };
    }),
  );
}

/** The two sides that values are compared by: the numbers of the events in the selection and outside of it. */
export interface Sides {
  readonly inside: number;
  readonly outside: number;
}

/** Exact: a number where that can hold the products of so many events, which is ten times as fast. Both kinds compare with one another. */
export type ShareDifference = number | bigint;

/**
 * How much larger the share of the selection that has a value is than that of the rest, times the numbers of both sides: a whole number, so
 * that values compare exactly. An empty side counts as 1, because all of its counts are 0.
 */
export function differenceOf({ count, selected }: SelectedCount, sides: Sides): ShareDifference {
  const [inside, outside] = [Math.max(sides.inside, 1), Math.max(sides.outside, 1)];
  return Number.isSafeInteger((inside + outside) ** 2)
    ? selected * outside - (count - selected) * inside
    : BigInt(selected) * BigInt(outside) - BigInt(count - selected) * BigInt(inside);
}

/** The values in the order of a facet by difference. */
export function byDifference<T extends SelectedCount>(values: readonly T[], sides: Sides): T[] {
  return values
    .map((one) => ({ one, difference: differenceOf(one, sides) }))
    .sort((a, b) => Number(b.difference > a.difference) - Number(b.difference < a.difference) || compareByCount(a.one, b.one))
    .map(({ one }) => one);
}

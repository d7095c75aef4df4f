import {
  byDifference,
  differenceOf,
  type FieldCounts,
  isWhole,
  type SelectedCount,
  type ShareDifference,
  type Sides,
  type ValueCount,
} from './field-counts.ts';

/** A value of which maybe not everything is counted. A number that is not known is undefined. */
export interface PartlyCounted {
  readonly value: string;
  readonly count: number | undefined;
  /** Number of its events in the selection. */
  readonly selected: number | undefined;
}

export interface Contenders {
  /** All of the known values that can be among the first ones of the facet. */
  readonly values: readonly PartlyCounted[];
  /** No value that is in neither list can differ by more. Undefined: both lists together have all values. */
  readonly mostOfOthers: ShareDifference | undefined;
}

/**
 * The values that can be among the first `limit` of a facet by difference, after the most frequent values of a search and of its selection.
 * What is not among these is not counted, but it has no more events than the last of them.
 */
export function contendersOf(counts: FieldCounts, selected: FieldCounts, sides: Sides, limit: number): Contenders {
  const mostCount = mostOfOthers(counts);
  const mostSelected = mostOfOthers(selected);
  const largest: ShareDifference[] = [];
  const contenders: { readonly one: PartlyCounted; readonly most: ShareDifference }[] = [];
  let known = 0;
  const consider = (value: string, count: number | undefined, inSelection: number | undefined) => {
    known += 1;
    // A value that is not counted because each of the others has one event, or none, is known all the same.
    const one: PartlyCounted = {
      value,
      count: count ?? (mostCount === 1 ? 1 : undefined),
      selected: inSelection ?? (mostSelected === 0 ? 0 : undefined),
    };
    const most = differenceOf(mostOf(one, mostSelected), sides);
    if (largest.length < limit || most >= (largest[0] as ShareDifference)) {
      contenders.push({ one, most });
      keepLargest(largest, differenceOf(leastOf(one, mostCount), sides), limit);
    }
  };
  const others = new Map(selected.first.map(({ value, count }) => [value, count]));
  for (const { value, count } of counts.first) {
    consider(value, count, others.get(value));
    others.delete(value);
  }
  for (const [value, inSelection] of others) {
    consider(value, undefined, inSelection);
  }
  const [threshold = Number.NEGATIVE_INFINITY] = largest.length < limit ? [] : largest;
  const values = contenders.filter(({ most }) => most >= threshold).map(({ one }) => one);
  const otherSelected = Math.min(mostSelected, mostCount);
  const other = { value: '', count: Math.max(otherSelected, 1), selected: otherSelected };
  return { values, mostOfOthers: known === counts.distinct ? undefined : differenceOf(other, sides) };
}

/** Adds a number to ascending ones where it is among the `limit` largest of all. */
function keepLargest(largest: ShareDifference[], one: ShareDifference, limit: number): void {
  const place = largest.findIndex((other) => other > one);
  largest.splice(place === -1 ? largest.length : place, 0, one);
  if (largest.length > limit) {
    largest.shift();
  }
}

/** The first `limit` of the values by difference. Undefined where one that is not in `values` may differ by as much as the last of them. */
export function firstIfCertain(
  values: readonly SelectedCount[],
  sides: Sides,
  limit: number,
  mostOfOthers: ShareDifference | undefined,
): readonly SelectedCount[] | undefined {
  const first = byDifference(values, sides).slice(0, limit);
  const last = first.at(-1);
  const isCertain =
    mostOfOthers === undefined || (last !== undefined && first.length === limit && differenceOf(last, sides) > mostOfOthers);
  return isCertain ? first : undefined;
}

/** The most events that a value can have which is not among the first. */
function mostOfOthers(counts: FieldCounts): number {
  return isWhole(counts) ? 0 : (counts.first.at(-1) as ValueCount).count;
}

/** The numbers by which the value would differ most. */
function mostOf({ value, count, selected }: PartlyCounted, mostSelected: number): SelectedCount {
  const inSelection = selected ?? Math.min(mostSelected, count ?? mostSelected);
  return { value, count: count ?? Math.max(inSelection, 1), selected: inSelection };
}

/** The numbers by which the value would differ least. */
function leastOf({ value, count, selected = 0 }: PartlyCounted, mostCount: number): SelectedCount {
  return { value, count: count ?? Math.max(mostCount, selected), selected };
}

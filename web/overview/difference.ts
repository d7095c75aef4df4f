import type { GroupDimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';

/** A value that is more frequent in the selection than in the rest. Shares are 0..1. */
export interface Difference {
  readonly field: GroupDimension;
  readonly value: string;
  readonly selected: number;
  readonly selectedShare: number;
  readonly restShare: number;
}

export interface Totals {
  /** Events of the whole result, and of the selection in it. */
  readonly all: number;
  readonly selected: number;
}

/** Smaller differences are of no use. */
const LEAST = 0.01;

/** Of this probability that any value of a field would differ so by chance. */
const LEAST_CHANCE = 0.01;

/**
 * The values of all fields that the selection has more of, by a point at least and by more than chance, the greatest difference first. As
 * many values are looked at as a field has, so the chance of one is multiplied by their number (Bonferroni).
 */
export function differencesOf(facets: readonly Facet[], totals: Totals): readonly Difference[] {
  const rest = totals.all - totals.selected;
  const all = facets.flatMap(({ field, distinct, values }) =>
    values.flatMap(({ value, count, selected }): Difference[] => {
      const chosen = selected ?? 0;
      const [selectedShare, restShare] = [shareOf(chosen, totals.selected), shareOf(count - chosen, rest)];
      if (selectedShare - restShare < LEAST || chanceOf(chosen, count, totals) * distinct >= LEAST_CHANCE) return [];
      return [{ field, value, selected: chosen, selectedShare, restShare }];
    }),
  );
  return all.toSorted((a, b) => excessOf(b) - excessOf(a));
}

/**
 * The probability that at least `chosen` of the `count` events with a value are in the selection if it was drawn from all events: Fisher's
 * exact test, one-sided, of a value that the selection has more of than the rest. The first term is made of logarithms of factorials, each
 * further one, which is less, of the one before it.
 */
export function chanceOf(chosen: number, count: number, { all, selected }: Totals): number {
  const logOfTerm = logChoose(count, chosen) + logChoose(all - count, selected - chosen) - logChoose(all, selected);
  let [term, sum] = [Math.exp(logOfTerm), 0];
  for (let x = chosen; x <= Math.min(count, selected) && term > sum * Number.EPSILON; x += 1) {
    sum += term;
    term *= ((count - x) / (x + 1)) * ((selected - x) / (all - count - selected + x + 1));
  }
  return Math.min(1, sum);
}

/** The logarithm of the number of ways to choose `k` of `n`. */
function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** Stirling's series, of which four terms are exact to the last digits from here on. */
const SERIES_FROM = 16;

function logFactorial(n: number): number {
  if (n < SERIES_FROM) return Math.log(Array.from({ length: n }, (_, index) => index + 1).reduce((product, factor) => product * factor, 1));
  const square = n * n;
  const series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / n;
  return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + series;
}

/** A part of nothing is none. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** By how much a share of the selection exceeds that of the rest. */
export function excessOf({ selectedShare, restShare }: Pick<Difference, 'selectedShare' | 'restShare'>): number {
  return selectedShare - restShare;
}

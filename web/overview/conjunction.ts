import type { Combination } from '../../query/plan/search-result.ts';
import { askExplorer } from '../api/explore.ts';
import { type FieldValue, isDimension } from '../state/conditions.ts';
import { conditionsOfQuestion, type Question } from '../state/question.ts';
import { type Difference, excessOf, shareOf, type Totals } from './difference.ts';

/** Values of different fields that events of the selection have together more often than others. Shares are 0..1. */
export interface Conjunction {
  readonly values: readonly FieldValue[];
  readonly selected: number;
  readonly selectedShare: number;
  readonly restShare: number;
}

/** Of each field so many values are put together with others, so many in all: their combinations are at most 256. */
const MOST_OF_FIELD = 2;
const MOST_VALUES = 8;

/** A conjunction says more than its best value alone if its share differs by so much more. */
const LEAST_GAIN = 0.05;

/** The first differences that a clause finds as they are counted, two of each field at most and eight in all. */
export function combinedValues(differences: readonly Difference[]): readonly FieldValue[] {
  const values: FieldValue[] = [];
  for (const { field, value } of differences) {
    const isFull = values.filter((one) => one.field === field).length >= MOST_OF_FIELD || values.length >= MOST_VALUES;
    if (isDimension(field) && value !== '' && !isFull) values.push({ field, value });
  }
  return values;
}

/** Counts the events of a question by which of the values they have. Throws RequestFailed. */
export async function countCombinations(
  question: Question,
  values: readonly FieldValue[],
  signal: AbortSignal,
): Promise<readonly Combination[]> {
  const { from, to, selection } = question.body;
  if (selection === undefined) throw new Error('the question has no selection');
  const asked = { from, to, ...conditionsOfQuestion(question), selection, pageSize: 0, combinations: values };
  return (await askExplorer(question.zones, asked, signal)).combinations ?? [];
}

/**
 * The pair or triple of values of different fields whose share of the selection exceeds their share of the rest most, of pairs and triples
 * alike the first one. Null where that is not five points more than the share of the best value alone does.
 */
export function bestConjunction(
  values: readonly FieldValue[],
  combinations: readonly Combination[],
  totals: Totals,
  best: Difference | undefined,
): Conjunction | null {
  const sets = pairsAndTriples(values).map((indexes): Conjunction => {
    const having = combinations.filter(({ met }) => indexes.every((index) => met.includes(index)));
    const [count, selected] = [having.reduce((sum, one) => sum + one.count, 0), having.reduce((sum, one) => sum + one.selected, 0)];
    return {
      values: indexes.flatMap((index) => values[index] ?? []),
      selected,
      selectedShare: shareOf(selected, totals.selected),
      restShare: shareOf(count - selected, totals.all - totals.selected),
    };
  });
  const [first] = sets.toSorted((a, b) => excessOf(b) - excessOf(a));
  return first !== undefined && excessOf(first) >= (best === undefined ? 0 : excessOf(best)) + LEAST_GAIN ? first : null;
}

/** The indexes of each two or three values of different fields. */
function pairsAndTriples(values: readonly FieldValue[]): readonly (readonly number[])[] {
  const longer = (sets: readonly (readonly number[])[]): readonly (readonly number[])[] =>
    sets.flatMap((set) =>
      values.flatMap(({ field }, index) =>
        index > (set.at(-1) ?? -1) && set.every((other) => values[other]?.field !== field) ? [[...set, index]] : [],
      ),
    );
  const pairs = longer(values.map((_value, index) => [index]));
  return [...pairs, ...longer(pairs)];
}

import type { Facet } from '../../query/plan/search-result.ts';
import { type AnsweredFacets, FACET_VALUES, isOfSameEvents, type ShownFacet } from '../state/question.ts';

/** A field with its most frequent values, and how many there are; null where that is not known before the next answer. */
export interface FrequentValues extends Pick<ShownFacet, 'field' | 'distinct'> {
  readonly values: Facet['values'] | null;
}

/**
 * The most frequent values of each field, from an answer. The facets of one with a selection have other values, those that differ most:
 * then they are those of `plain`, the last answer without a selection, if that is about the same events. Otherwise they are known of fields
 * of which the facet has all values.
 */
export function frequentValues(shown: AnsweredFacets, plain: AnsweredFacets | null): readonly FrequentValues[] {
  if (shown.question.body.selection === undefined) return shown.answer.facets ?? [];
  if (plain !== null && isOfSameEvents(plain.question, shown.question)) return plain.answer.facets ?? [];
  return (shown.answer.facets ?? []).map(({ field, distinct, values }) => ({
    field,
    distinct,
    values: values === null || values.length < distinct ? null : values.toSorted((a, b) => b.count - a.count).slice(0, FACET_VALUES),
  }));
}

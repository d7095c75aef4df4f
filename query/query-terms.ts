import { SEARCH_TEXT_COLUMNS } from './dimensions.ts';
import type { Predicate } from './predicate.ts';

/**
 * The terms of a free-text query. White space (as in JavaScript's `\s`) separates them; a `"` at the beginning of a term opens a phrase,
 * kept with its blanks up to the next `"`. A quote that is never closed, and one inside a term, is a character like any other (`6"` is
 * searchable). An empty phrase is no term. Repeated terms count once.
 */
export function queryTerms(query: string): readonly string[] {
  const terms = [...query.matchAll(/"([^"]*)"|\S+/g)].map(([term, phrase]) => phrase ?? term);
  return [...new Set(terms)].filter((term) => term !== '');
}

/** Every term occurs in at least one of the text columns. */
export function termPredicates(terms: readonly string[]): readonly Predicate[] {
  return terms.map((needle) => ({ kind: 'any', of: SEARCH_TEXT_COLUMNS.map((column) => ({ kind: 'contains', column, needle })) }));
}

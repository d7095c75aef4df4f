import { ErrorList } from './error-list.ts';
import { JsonSyntaxError, type JsonValue, parseExactJson } from './exact-json.ts';
import { filterPredicate } from './filter-predicate.ts';
import { InvalidSearchError } from './invalid-search-error.ts';
import { BODY } from './json-path.ts';
import type { Predicate } from './predicate.ts';
import { queryTerms, termPredicates } from './query-terms.ts';
import { SEARCH_LIMITS } from './search-limits.ts';
import type { SearchPlan } from './search-plan.ts';
import { readSearchRequest, type SearchRequest } from './search-request.ts';
import { searchWindow } from './search-window.ts';
import { shownValue } from './shown-value.ts';
import { decodeUtf8 } from './utf8-text.ts';

/** Neither a page nor a sparkline is longer. */
export const MAX_PER_ANSWER = 500;

export interface SearchContext {
  readonly zoneId: number;
  /** The time of the request, Unix milliseconds UTC. */
  readonly nowMs: number;
}

/**
 * Compiles the body of a search request, JSON in UTF-8, into the plan that engines are given. Throws {@link InvalidSearchError} with
 * everything that is wrong. `page.index * page.size` is below 2^41, so offsets are exact numbers.
 */
export function compileSearch(body: Uint8Array, { zoneId, nowMs }: SearchContext): SearchPlan {
  const errors = new ErrorList();
  const request = readSearchRequest(parseSearchBody(body), errors);
  const window = searchWindow(request?.from, request?.to, nowMs, errors);
  const where = request === undefined ? undefined : compileConditions(request, errors);
  if (request === undefined || where === undefined || window === undefined || !errors.isEmpty) {
    throw new InvalidSearchError(errors.toArray());
  }
  const { groupBy: by, buckets, page, pageSize } = request;
  return {
    zoneId,
    window,
    where,
    page: { index: page, size: clamp(pageSize, 1, MAX_PER_ANSWER) },
    output: by.length === 0 ? { kind: 'rows' } : { kind: 'groups', by, buckets: clamp(buckets, 0, MAX_PER_ANSWER) },
  };
}

/** The JSON of a request in UTF-8. Throws {@link InvalidSearchError} where it is none. */
export function parseSearchBody(body: Uint8Array): JsonValue {
  const text = decodeUtf8(body);
  if (typeof text === 'number') {
    throw new InvalidSearchError([{ field: BODY, message: `must be UTF-8; the byte at offset ${text} is not` }]);
  }
  try {
    return parseExactJson(text, { depth: SEARCH_LIMITS.jsonDepth, values: SEARCH_LIMITS.jsonValues });
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      throw new InvalidSearchError([{ field: BODY, message: `must be JSON: ${error.message}` }]);
    }
    throw error;
  }
}

/** What an event must fulfil to match the text and the filters of a request. What is wrong is added to the errors. */
export function compileConditions({ query, filters }: Pick<SearchRequest, 'query' | 'filters'>, errors: ErrorList): Predicate {
  const terms = queryTerms(query ?? '');
  if (terms.length > SEARCH_LIMITS.terms) {
    errors.add('query', `must have at most ${SEARCH_LIMITS.terms} terms, not ${terms.length}: ${shownValue(query)}`);
  }
  return allOf([...termPredicates(terms), ...filters.map((clause) => filterPredicate(clause, errors))]);
}

function allOf(predicates: readonly Predicate[]): Predicate {
  const [first] = predicates;
  if (first === undefined) {
    return { kind: 'everything' };
  }
  return predicates.length === 1 ? first : { kind: 'all', of: predicates };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

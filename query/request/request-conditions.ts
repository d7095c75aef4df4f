import type { JsonObject } from '../json-value.ts';
import { queryTerms } from '../query-terms.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { type ClauseList, readClauses } from './filter-clauses.ts';
import { BODY, type ErrorList, shownValue } from './request-errors.ts';
import { refuseCostly } from './search-costs.ts';
import { readText } from './wire-readers.ts';

/** The part of a request that says which events match. */
export interface RequestConditions {
  /** The terms of `query`. Each must match. */
  readonly terms: readonly string[];
  /** Each must match. */
  readonly filters: ClauseList;
  /** None may match. */
  readonly exclude: ClauseList;
}

/** Reads `query`, `filters` and `exclude` of a body. */
export function readConditions(fields: JsonObject, errors: ErrorList): RequestConditions {
  const terms = readTerms(fields, errors);
  const filters = readClauses(fields, BODY, 'filters', errors);
  const exclude = readClauses(fields, BODY, 'exclude', errors);
  refuseCostly(terms, [filters, exclude], errors);
  return { terms, filters, exclude };
}

/** Reads the terms of the free text. */
export function readTerms(fields: JsonObject, errors: ErrorList): readonly string[] {
  const value = fields.get('query') ?? null;
  const query = value === null ? undefined : readText(value, 'query', errors);
  if (query !== undefined && query.length > SEARCH_LIMITS.queryLength) {
    errors.add('query', `must have at most ${SEARCH_LIMITS.queryLength} characters, not ${query.length}: ${shownValue(query)}`);
    return [];
  }
  const terms = queryTerms(query ?? '');
  if (terms.length > SEARCH_LIMITS.terms) {
    errors.add('query', `must have at most ${SEARCH_LIMITS.terms} terms, not ${terms.length}: ${shownValue(query)}`);
  }
  return terms;
}

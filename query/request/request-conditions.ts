import type { JsonObject } from '../json-value.ts';
import { queryTerms } from '../query-terms.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { type ClauseList, readClauses } from './filter-clauses.ts';
import { BODY, type ErrorList, propertyPath, shownValue } from './request-errors.ts';
import { type QueryTerms, refuseCostly } from './search-costs.ts';
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
  const query = readTerms(fields, BODY, errors);
  const filters = readClauses(fields, BODY, 'filters', errors);
  const exclude = readClauses(fields, BODY, 'exclude', errors);
  refuseCostly([query, filters, exclude], errors);
  return { terms: query.terms, filters, exclude };
}

/** Reads the terms of the free text `query` of an object. */
export function readTerms(fields: JsonObject, parent: string, errors: ErrorList): QueryTerms {
  const path = propertyPath(parent, 'query');
  const value = fields.get('query') ?? null;
  const query = value === null ? undefined : readText(value, path, errors);
  if (query !== undefined && query.length > SEARCH_LIMITS.queryLength) {
    errors.add(path, `must have at most ${SEARCH_LIMITS.queryLength} characters, not ${query.length}: ${shownValue(query)}`);
    return { path, terms: [] };
  }
  return { path, terms: queryTerms(query ?? '') };
}

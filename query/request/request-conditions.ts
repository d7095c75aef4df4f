import { DIMENSIONS, type Dimension } from '../event-fields.ts';
import { FILTER_OP_NAMES, type FilterOp } from '../filter-ops.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { queryTerms } from '../query-terms.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { BODY, type ErrorList, elementPath, propertyPath, shownValue } from './request-errors.ts';
import { refuseCostly } from './shared-limits.ts';
import { readList, readName, readObject, readText } from './wire-readers.ts';

/** The part of a request that says which events match. */
export interface RequestConditions {
  /** The terms of `query`. Each must match. */
  readonly terms: readonly string[];
  /** Each must match. */
  readonly filters: ClauseList;
  /** None may match. */
  readonly exclude: ClauseList;
}

/** The clauses of one list that could be read. */
export interface ClauseList {
  readonly path: string;
  readonly clauses: readonly FilterClause[];
}

/** EventLogsFilter. Nothing says yet that `op` fits the field and the alternatives. */
export interface FilterClause {
  readonly path: string;
  readonly field: Dimension;
  readonly op: FilterOp;
  readonly alternatives: readonly Alternative[];
}

/** A text of a clause. An event needs to match only one of them. */
export interface Alternative {
  readonly text: string;
  readonly path: string;
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

/** Reads a list of clauses, which may be null, of the object at `parent`. */
export function readClauses(fields: JsonObject, parent: string, name: 'filters' | 'exclude', errors: ErrorList): ClauseList {
  const path = propertyPath(parent, name);
  const value = fields.get(name) ?? null;
  const elements = value === null ? [] : (readList(value, path, { of: 'filter clauses', max: SEARCH_LIMITS.clauses }, errors) ?? []);
  const clauses = elements
    .map((element, index) => readClause(element, elementPath(path, index), errors))
    .filter((clause) => clause !== undefined);
  return { path, clauses };
}

function readClause(value: JsonValue, path: string, errors: ErrorList): FilterClause | undefined {
  const clause = readObject(value, path, ['field', 'op', 'value'], errors);
  if (clause === undefined) {
    return undefined;
  }
  const field = readName(clause.get('field'), propertyPath(path, 'field'), DIMENSIONS, errors);
  const op = readName(clause.get('op'), propertyPath(path, 'op'), FILTER_OP_NAMES, errors);
  const alternatives = readAlternatives(clause.get('value') ?? null, propertyPath(path, 'value'), errors);
  return field === undefined || op === undefined ? undefined : { path, field, op, alternatives };
}

function readAlternatives(value: JsonValue, path: string, errors: ErrorList): readonly Alternative[] {
  const elements = readList(value, path, { of: 'strings, at least one', max: SEARCH_LIMITS.alternatives }, errors);
  if (elements?.length === 0) {
    errors.add(path, 'must have at least one string');
  }
  const texts = (elements ?? []).map((element, index) => {
    const elementAt = elementPath(path, index);
    return { text: readText(element, elementAt, errors), path: elementAt };
  });
  return texts.filter((alternative): alternative is Alternative => alternative.text !== undefined);
}

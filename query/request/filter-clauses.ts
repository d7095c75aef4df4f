import { DIMENSIONS, type Dimension } from '../event-fields.ts';
import { FILTER_OP_NAMES, type FilterOp } from '../filter-ops.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { type ErrorList, elementPath, propertyPath } from './request-errors.ts';
import { readList, readName, readObject, readText } from './wire-readers.ts';

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

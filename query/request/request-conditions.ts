import { DIMENSIONS, type Dimension } from '../event-fields.ts';
import type { JsonObject, JsonValue } from '../exact-json.ts';
import { FILTER_OP_NAMES, FILTER_OPS, type FilterOp, filterOpsThat } from '../filter-ops.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { BODY, type ErrorList, elementPath, propertyPath } from './request-errors.ts';
import { readList, readName, readObject, readText } from './wire-readers.ts';

/** The part of a request that says which events match. */
export interface RequestConditions {
  readonly query: string | undefined;
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
  const query = readQueryText(fields, errors);
  const filters = readClauses(fields, BODY, 'filters', errors);
  const exclude = readClauses(fields, BODY, 'exclude', errors);
  refuseCostly([filters, exclude], errors);
  return { query, filters, exclude };
}

/** Reads the free text. */
export function readQueryText(fields: JsonObject, errors: ErrorList): string | undefined {
  const query = fields.get('query') ?? null;
  return query === null ? '' : readText(query, 'query', errors);
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

/** A limit of all clauses of a request together, and what a clause takes of it. */
interface SharedLimit {
  readonly most: number;
  readonly what: string;
  readonly taken: (clause: FilterClause) => number;
}

const SHARED_LIMITS: readonly SharedLimit[] = [
  { most: SEARCH_LIMITS.clauses, what: 'clauses', taken: () => 1 },
  { most: SEARCH_LIMITS.allAlternatives, what: 'values in all its clauses', taken: ({ alternatives }) => alternatives.length },
  {
    most: SEARCH_LIMITS.searchedTexts,
    what: `values in all its ${filterOpsThat('searchesTexts').join(' and ')} clauses`,
    taken: ({ op, alternatives }) => (FILTER_OPS[op].searchesTexts ? alternatives.length : 0),
  },
  {
    most: SEARCH_LIMITS.allStarRuns,
    what: 'stars in all its wildcards',
    taken: ({ op, alternatives }) => (op === 'wildcard' ? alternatives.reduce((sum, { text }) => sum + starRunsIn(text), 0) : 0),
  },
];

/** Adds an error for each limit of all lists together that is passed, at the list that passes it. */
export function refuseCostly(lists: readonly ClauseList[], errors: ErrorList): void {
  for (const { most, what, taken } of SHARED_LIMITS) {
    let sum = 0;
    for (const [index, { path, clauses }] of lists.entries()) {
      sum = clauses.reduce((total, clause) => total + taken(clause), sum);
      if (sum > most) {
        const others = lists.slice(0, index).map((list) => list.path);
        const also = others.length === 0 ? '' : ` with those of ${others.join(', ')}`;
        errors.add(path, `must have at most ${most} ${what} together${also}, not ${sum}`);
        break;
      }
    }
  }
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

/** The literal runs between the stars; stars in a row are one, so that `a**b` is `['a','b']` and `***` is `['','']`. */
export function wildcardParts(pattern: string): readonly string[] {
  return pattern.split(/\*+/);
}

/** Runs of stars in a wildcard. */
export function starRunsIn(pattern: string): number {
  return wildcardParts(pattern).length - 1;
}

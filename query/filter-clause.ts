import { DIMENSIONS, type Dimension } from './dimensions.ts';
import type { ErrorList } from './error-list.ts';
import type { JsonValue } from './exact-json.ts';
import { elementPath, propertyPath } from './json-path.ts';
import { SEARCH_LIMITS } from './search-limits.ts';
import { wildcardParts } from './wildcard-parts.ts';
import { readList } from './wire-list.ts';
import { readName } from './wire-name.ts';
import { readObject } from './wire-object.ts';
import { readText } from './wire-text.ts';

const FILTER_OPS = ['eq', 'in', 'contains', 'cidr', 'wildcard'] as const;

/** One of the texts of which an event needs to match only one, and where it stands in the request. */
export interface Alternative {
  readonly text: string;
  readonly path: string;
}

/** EventLogsFilter as it is on the wire; whether the parts fit together is not looked at yet. */
export interface FilterClause {
  readonly path: string;
  readonly field: Dimension;
  readonly op: (typeof FILTER_OPS)[number];
  readonly alternatives: readonly Alternative[];
}

/**
 * Reads `filters`; null is none. What is wrong is added to the errors; what is right comes back, so that the rest of it can be judged too.
 */
export function readFilters(value: JsonValue, path: string, errors: ErrorList): readonly FilterClause[] {
  if (value === null) {
    return [];
  }
  const elements = readList(value, path, { of: 'filter clauses', most: SEARCH_LIMITS.clauses }, errors) ?? [];
  const clauses = elements.map((element, index) => readClause(element, elementPath(path, index), errors));
  const alternatives = clauses.reduce((sum, clause) => sum + (clause?.alternatives.length ?? 0), 0);
  if (alternatives > SEARCH_LIMITS.allAlternatives) {
    errors.add(path, `must have at most ${SEARCH_LIMITS.allAlternatives} values in all its clauses together, not ${alternatives}`);
  }
  const searched = clauses.reduce((sum, clause) => sum + (isTextSearch(clause) ? clause.alternatives.length : 0), 0);
  if (searched > SEARCH_LIMITS.searchedTexts) {
    errors.add(
      path,
      `must have at most ${SEARCH_LIMITS.searchedTexts} values in all its contains and wildcard clauses together, not ${searched}`,
    );
  }
  const starRuns = clauses.reduce((sum, clause) => sum + (clause?.op === 'wildcard' ? starRunsIn(clause) : 0), 0);
  if (starRuns > SEARCH_LIMITS.allStarRuns) {
    errors.add(path, `must have at most ${SEARCH_LIMITS.allStarRuns} stars in all its wildcards together, not ${starRuns}`);
  }
  return clauses.filter((clause) => clause !== undefined);
}

/** Stars in a row count as one. */
function starRunsIn({ alternatives }: FilterClause): number {
  return alternatives.reduce((sum, { text }) => sum + wildcardParts(text).length - 1, 0);
}

function isTextSearch(clause: FilterClause | undefined): clause is FilterClause {
  return clause?.op === 'contains' || clause?.op === 'wildcard';
}

function readClause(value: JsonValue, path: string, errors: ErrorList): FilterClause | undefined {
  const clause = readObject(value, path, ['field', 'op', 'value'], errors);
  if (clause === undefined) {
    return undefined;
  }
  const field = readName(clause.get('field'), propertyPath(path, 'field'), DIMENSIONS, errors);
  const op = readName(clause.get('op'), propertyPath(path, 'op'), FILTER_OPS, errors);
  const alternatives = readAlternatives(clause.get('value') ?? null, propertyPath(path, 'value'), errors);
  return field === undefined || op === undefined ? undefined : { path, field, op, alternatives };
}

function readAlternatives(value: JsonValue, path: string, errors: ErrorList): readonly Alternative[] {
  const elements = readList(value, path, { of: 'strings, at least one', most: SEARCH_LIMITS.alternatives }, errors);
  if (elements?.length === 0) {
    errors.add(path, 'must have at least one string');
  }
  const texts = (elements ?? []).map((element, index) => {
    const elementAt = elementPath(path, index);
    return { text: readText(element, elementAt, errors), path: elementAt };
  });
  return texts.filter((alternative): alternative is Alternative => alternative.text !== undefined);
}

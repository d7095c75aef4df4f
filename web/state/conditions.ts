import { DIMENSIONS, type Dimension, type GroupDimension } from '../../query/event-fields.ts';
import { queryOfTerms, queryTerms } from '../../query/query-terms.ts';
import { type LineClause, type LineSearch, parseSearchLine, searchLineOf } from '../../query/search-line.ts';
import { type Comparison, type ExplorerState, NO_SEARCH } from './explorer-state.ts';

/** `filters`: events have to match. `exclude`: they must not. */
export type Side = 'filters' | 'exclude';

/** A value that events may have; empty: that they have none. */
export interface FieldValue {
  readonly field: GroupDimension;
  readonly value: string;
}

/** Whether clauses have the field; the zone is chosen by itself. */
export function isDimension(field: GroupDimension): field is Dimension {
  return DIMENSIONS.some((name) => name === field);
}

/** Whether an event may have the field as an empty text. Numbers are none. */
export function mayBeEmpty(field: GroupDimension): boolean {
  return field !== 'asn' && field !== 'shieldZoneId';
}

/** The search with a clause more. One that it has already stays where it is. */
export function withClause(search: LineSearch, side: Side, clause: LineClause): LineSearch {
  return search[side].some((one) => isSame(one, clause)) ? search : { ...search, [side]: [...search[side], clause] };
}

export function withoutClause(search: LineSearch, side: Side, index: number): LineSearch {
  return { ...search, [side]: search[side].filter((_clause, at) => at !== index) };
}

export function withClauseAt(search: LineSearch, side: Side, index: number, clause: LineClause): LineSearch {
  return { ...search, [side]: search[side].map((one, at) => (at === index ? clause : one)) };
}

/** The clause on the other side, at its end. */
export function turnedOver(search: LineSearch, side: Side, index: number): LineSearch {
  const clause = search[side][index];
  if (clause === undefined) return search;
  return withClause(withoutClause(search, side, index), otherSide(side), clause);
}

export function withoutTerm(search: LineSearch, term: string): LineSearch {
  return { ...search, query: queryOfTerms(queryTerms(search.query).filter((one) => one !== term)) };
}

/** The search of a line; null where it has a fault, or no condition. */
export function searchOfLine(line: string): LineSearch | null {
  const read = parseSearchLine(line);
  return 'fault' in read || searchLineOf(read) === '' ? null : read;
}

/** What the events of a comparison have in common, beside others; null where that is their time. */
export function searchOfComparison(comparison: Comparison | null): LineSearch | null {
  if (comparison?.kind === 'line') return searchOfLine(comparison.line);
  if (comparison?.kind !== 'value') return null;
  return withClause(NO_SEARCH, 'filters', { field: comparison.field, op: 'eq', value: [comparison.value] });
}

/** Both searches at once: every event that matches is matched by each. */
export function bothSearches(one: LineSearch, other: LineSearch): LineSearch {
  const terms = queryOfTerms([...queryTerms(one.query), ...queryTerms(other.query)]);
  const filtered = other.filters.reduce((search, clause) => withClause(search, 'filters', clause), { ...one, query: terms });
  return other.exclude.reduce((search, clause) => withClause(search, 'exclude', clause), filtered);
}

/**
 * The change that keeps the events with a value, or those without it. A filter in replaces one for another whole value of the field, with
 * which it could only find nothing. The empty value stands for events without the field: those that no wildcard of it matches.
 */
export function filterChange(
  state: Pick<ExplorerState, 'search'>,
  side: Side,
  field: GroupDimension,
  value: string,
): Partial<ExplorerState> | null {
  if (!isDimension(field)) return side === 'filters' ? { zones: [Number(value)] } : null;
  if (value === '') return { search: withClause(state.search, otherSide(side), { field, op: 'wildcard', value: ['*'] }) };
  const clause: LineClause = { field, op: 'eq', value: [value] };
  const isReplaced = (one: LineClause): boolean => side === 'filters' && one.field === field && (one.op === 'eq' || one.op === 'in');
  const search = {
    ...state.search,
    [side]: state.search[side].filter((one) => !isReplaced(one)),
    [otherSide(side)]: state.search[otherSide(side)].filter((one) => !isSame(one, clause)),
  };
  return { search: withClause(search, side, clause) };
}

function otherSide(side: Side): Side {
  return side === 'filters' ? 'exclude' : 'filters';
}

function isSame(one: LineClause, other: LineClause): boolean {
  return one.field === other.field && one.op === other.op && JSON.stringify(one.value) === JSON.stringify(other.value);
}

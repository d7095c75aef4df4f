import { FILTER_OPS, filterOpsThat } from '../filter-ops.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { utf8Length } from '../text-bytes.ts';
import type { Alternative, ClauseList, FilterClause } from './filter-clauses.ts';
import { type ErrorList, shownValue } from './request-errors.ts';

/** The terms of a free text, and where it is. */
export interface QueryTerms {
  readonly path: string;
  readonly terms: readonly string[];
}

/** A free text of a request, or one of its lists of clauses. */
interface CountedPart {
  readonly path: string;
  readonly clauses: readonly FilterClause[];
  /** What is searched for within texts. */
  readonly searched: readonly Alternative[];
}

/** A limit of all parts of a request together, and what a part takes of it. */
interface SharedLimit {
  readonly most: number;
  readonly what: string;
  readonly taken: (part: CountedPart) => number;
}

const SEARCHED = `words of query and values of ${filterOpsThat('searchesTexts').join(' and ')}`;

const SHARED_LIMITS: readonly SharedLimit[] = [
  { most: SEARCH_LIMITS.clauses, what: 'clauses', taken: ({ clauses }) => clauses.length },
  {
    most: SEARCH_LIMITS.allAlternatives,
    what: 'values in all its clauses',
    taken: ({ clauses }) => clauses.reduce((sum, { alternatives }) => sum + alternatives.length, 0),
  },
  { most: SEARCH_LIMITS.searchedTexts, what: SEARCHED, taken: ({ searched }) => searched.length },
  {
    most: SEARCH_LIMITS.allSearchedBytes,
    what: `bytes in ${SEARCHED}`,
    taken: ({ searched }) => searched.reduce((sum, { text }) => sum + utf8Length(text), 0),
  },
];

/**
 * Adds an error for each searched text that is too long, at its place, and one for each limit of all parts together that is passed, at the
 * part that passes it.
 */
export function refuseCostly(given: readonly (QueryTerms | ClauseList)[], errors: ErrorList): void {
  const parts = given.map(countedPart);
  for (const part of parts) {
    for (const searched of part.searched) refuseLong(searched, part, errors);
  }
  for (const limit of SHARED_LIMITS) refuseMany(parts, limit, errors);
}

function countedPart(part: QueryTerms | ClauseList): CountedPart {
  const { path } = part;
  if ('terms' in part) {
    return { path, clauses: [], searched: part.terms.map((text) => ({ text, path })) };
  }
  const searched = part.clauses.flatMap(({ op, alternatives }) => (FILTER_OPS[op].searchesTexts === true ? alternatives : []));
  return { path, clauses: part.clauses, searched };
}

function refuseLong({ text, path }: Alternative, part: CountedPart, errors: ErrorList): void {
  const length = utf8Length(text);
  if (length > SEARCH_LIMITS.searchedTextBytes) {
    const each = path === part.path ? ' in each word and phrase' : '';
    errors.add(path, `must have at most ${SEARCH_LIMITS.searchedTextBytes} bytes${each}, not ${length}: ${shownValue(text)}`);
  }
}

function refuseMany(parts: readonly CountedPart[], { most, what, taken }: SharedLimit, errors: ErrorList): void {
  const counted = parts.map((part) => ({ path: part.path, count: taken(part) })).filter(({ count }) => count > 0);
  let sum = 0;
  for (const [index, { path, count }] of counted.entries()) {
    sum += count;
    if (sum > most) {
      const others = counted.slice(0, index).map((part) => part.path);
      const also = others.length === 0 ? '' : ` with those of ${others.join(', ')}`;
      errors.add(path, `must have at most ${most} ${what} together${also}, not ${sum}`);
      return;
    }
  }
}

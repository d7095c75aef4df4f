import { foldCase } from './fold-case.ts';
import { isInRange, sameAddress } from './match-address.ts';
import { matchesWildcard } from './match-wildcard.ts';
import { type OracleEvent, storedText } from './raw-event.ts';
import { remembered } from './remembered.ts';

/** A filter clause as the request carries it, already known to be a valid one. */
export interface OracleFilter {
  readonly field: string;
  readonly op: string;
  readonly value: readonly string[];
}

const FOLDED_FIELDS = new Set(['feature', 'country', 'action']);
const SEARCHED_FIELDS = ['ip', 'ruleId', 'url', 'ua', 'ruleName'];

/** Filters are AND, the values of one are OR; an event without the field matches no filter on it. */
export function matchesFilter(event: OracleEvent, { field, op, value }: OracleFilter): boolean {
  const own = event.fields[field];
  const matches = OPS[op];
  if (matches === undefined) throw new Error(`the oracle has no op ${JSON.stringify(op)}`);
  const meant = field === 'asn' ? value.map((wanted) => wanted.replace(/^AS(?=\d)/i, '')) : value;
  return own !== undefined && meant.some((wanted) => matches(own, wanted, field));
}

const OPS: Readonly<Record<string, (own: string, wanted: string, field: string) => boolean>> = {
  eq: equals,
  in: equals,
  contains: (own, wanted) => foldCase(own).includes(foldCase(wanted)),
  cidr: isInRange,
  wildcard: matchesWildcard,
};

/** The operations of filters. `test/property/` makes requests with each of them. */
export const ORACLE_OPS = Object.keys(OPS);

/** The event has the beginning of a long text, so that only the beginning of the other one counts. */
function equals(own: string, whole: string, field: string): boolean {
  const wanted = storedText(whole);
  if (field === 'ip') {
    return sameAddress(own, wanted);
  }
  return FOLDED_FIELDS.has(field) ? foldCase(own) === foldCase(wanted) : own === wanted;
}

/** Every term must occur in at least one of the searched fields; different terms may hit different ones. */
export function matchesQuery(event: OracleEvent, query: string | null | undefined): boolean {
  return queryTerms(query ?? '').every((term) =>
    SEARCHED_FIELDS.some((field) => foldCase(event.fields[field] ?? '').includes(foldCase(term))),
  );
}

/** The words and phrases of a query, some of them twice. */
export const queryTerms = remembered((query: string): readonly string[] =>
  Array.from(query.matchAll(/"([^"]*)"|([^\s"]+)/g), ([, phrase, word]) => phrase ?? word ?? '').filter((term) => term !== ''),
);

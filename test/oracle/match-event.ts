import { foldCase } from './fold-case.ts';
import { isInRange, sameAddress } from './match-address.ts';
import { matchesWildcard } from './match-wildcard.ts';
import type { OracleEvent } from './raw-event.ts';

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
  return own !== undefined && value.some((wanted) => matchesValue(field, op, own, wanted));
}

function matchesValue(field: string, op: string, own: string, wanted: string): boolean {
  switch (op) {
    case 'eq':
    case 'in':
      return equals(field, own, wanted);
    case 'contains':
      return foldCase(own).includes(foldCase(wanted));
    case 'wildcard':
      return matchesWildcard(own, wanted);
    case 'cidr':
      return isInRange(own, wanted);
    default:
      throw new Error(`the oracle knows no op ${JSON.stringify(op)}`);
  }
}

function equals(field: string, own: string, wanted: string): boolean {
  if (field === 'ip') {
    return sameAddress(own, wanted);
  }
  if (field === 'asn') {
    return own === wanted.replace(/^AS/, '');
  }
  return FOLDED_FIELDS.has(field) ? foldCase(own) === foldCase(wanted) : own === wanted;
}

/** Every term must occur in at least one of the searched fields; different terms may hit different ones. */
export function matchesQuery(event: OracleEvent, query: string | null | undefined): boolean {
  return queryTerms(query ?? '').every((term) =>
    SEARCHED_FIELDS.some((field) => foldCase(event.fields[field] ?? '').includes(foldCase(term))),
  );
}

function queryTerms(query: string): string[] {
  return Array.from(query.matchAll(/"([^"]*)"|([^\s"]+)/g), ([, phrase, word]) => phrase ?? word ?? '').filter((term) => term !== '');
}

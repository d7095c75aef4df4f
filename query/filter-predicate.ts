import { canonicalAsn } from './canonical-asn.ts';
import { CASE_FOLDED_DIMENSIONS, type Dimension } from './dimensions.ts';
import type { ErrorList } from './error-list.ts';
import type { FilterClause } from './filter-clause.ts';
import { parseAddress } from './parse-address.ts';
import { parseCidr } from './parse-cidr.ts';
import type { AddressRange, Predicate } from './predicate.ts';
import { SEARCH_LIMITS } from './search-limits.ts';
import { shownValue } from './shown-value.ts';
import { wildcardParts } from './wildcard-parts.ts';

/** What an event must fulfil to match one of the clause's alternatives. What makes no sense for its op is added to the errors. */
export function filterPredicate(clause: FilterClause, errors: ErrorList): Predicate {
  const { field: column, op } = clause;
  const texts = [...new Set(clause.alternatives.map(({ text }) => text))];
  switch (op) {
    case 'eq':
    case 'in':
      return equalityPredicate(column, texts);
    case 'contains':
      refuseEmpty(clause, errors);
      return anyOf(texts.map((needle) => ({ kind: 'contains', column, needle })));
    case 'wildcard':
      refuseManyStars(clause, errors);
      return anyOf(texts.map((pattern) => ({ kind: 'wildcard', column, parts: wildcardParts(pattern) })));
    case 'cidr':
      return cidrPredicate(clause, errors);
    default:
      return op satisfies never;
  }
}

/**
 * An address is compared as a number, so that its many spellings are equal. Text that is no address is compared as text: it can only equal
 * the text of an event whose `ip` is no address either.
 */
function equalityPredicate(column: Dimension, texts: readonly string[]): Predicate {
  if (column === 'asn') {
    return equals(column, [...new Set(texts.map((text) => canonicalAsn(text) ?? text))]);
  }
  if (column !== 'ip') {
    return equals(column, texts);
  }
  const addresses = texts.map((text) => ({ text, address: parseAddress(text) }));
  const numbers = new Set(addresses.map(({ address }) => address).filter((address) => address !== null));
  const others = addresses.filter(({ address }) => address === null).map(({ text }) => text);
  return anyOf([
    ...(numbers.size > 0 ? [addressIn([...numbers].map((address) => ({ first: address, last: address })))] : []),
    ...(others.length > 0 ? [equals(column, others)] : []),
  ]);
}

function cidrPredicate({ path, field, alternatives }: FilterClause, errors: ErrorList): Predicate {
  if (field !== 'ip') {
    errors.add(`${path}.op`, `must not be cidr on the field ${field}: only ip has addresses`);
  }
  const ranges: AddressRange[] = [];
  for (const { text, path: place } of alternatives) {
    const parsed = parseCidr(text);
    if ('fault' in parsed) {
      errors.add(place, `${parsed.fault}, not ${shownValue(text)}`);
    } else {
      ranges.push(...parsed);
    }
  }
  return addressIn(ranges);
}

function refuseEmpty({ alternatives }: FilterClause, errors: ErrorList): void {
  for (const { text, path } of alternatives) {
    if (text === '') {
      errors.add(path, 'must not be empty: every value contains "", so it would ask for nothing');
    }
  }
}

function refuseManyStars({ alternatives }: FilterClause, errors: ErrorList): void {
  for (const { text, path } of alternatives) {
    const starRuns = wildcardParts(text).length - 1;
    if (starRuns > SEARCH_LIMITS.starRuns) {
      errors.add(path, `must have at most ${SEARCH_LIMITS.starRuns} stars with text between them, not ${starRuns}: ${shownValue(text)}`);
    }
  }
}

function equals(column: Dimension, values: readonly string[]): Predicate {
  return { kind: 'equals', column, values, folded: CASE_FOLDED_DIMENSIONS.has(column) };
}

function addressIn(ranges: readonly AddressRange[]): Predicate {
  return { kind: 'addressIn', ranges };
}

function anyOf(predicates: readonly Predicate[]): Predicate {
  const [only] = predicates;
  return predicates.length === 1 && only !== undefined ? only : { kind: 'any', of: predicates };
}

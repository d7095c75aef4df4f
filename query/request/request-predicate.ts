import { type AddressRange, maskedNetwork, parseMasked } from '../address.ts';
import { canonicalAsn, withoutAsPrefix } from '../as-number.ts';
import { readAddress, readCidr } from '../cidr.ts';
import { CASE_IGNORED_FIELDS, DIMENSIONS, type Dimension, FREE_TEXT_FIELDS, ruleOf } from '../event-fields.ts';
import { FILTER_OPS } from '../filter-ops.ts';
import type { Predicate } from '../plan/search-plan.ts';
import { SEARCH_LIMITS } from '../search-limits.ts';
import { storedText } from '../text-bytes.ts';
import type { FilterClause } from './filter-clauses.ts';
import type { RequestConditions } from './request-conditions.ts';
import { type ErrorList, shownValue } from './request-errors.ts';

/** The predicate of the conditions of a request. Adds to the errors what makes no sense for the operation of a clause. */
export function requestPredicate({ terms, filters, exclude }: RequestConditions, errors: ErrorList): Predicate {
  return allOf([
    ...terms.map(termPredicate),
    ...filters.clauses.map((clause) => filterPredicate(clause, errors)),
    ...exclude.clauses.map((clause): Predicate => ({ kind: 'not', of: filterPredicate(clause, errors) })),
  ]);
}

function termPredicate(needle: string): Predicate {
  return anyOf(FREE_TEXT_FIELDS.map((column) => ({ kind: 'contains', column, needle })));
}

/** The predicate of one clause. Adds to the errors what makes no sense for its operation. */
export function filterPredicate(clause: FilterClause, errors: ErrorList): Predicate {
  const { field: column, op } = clause;
  const texts = [...new Set(clause.alternatives.map(({ text }) => text))];
  applyOpRules(clause, errors);
  switch (op) {
    case 'eq':
    case 'in':
      return equalityPredicate(column, texts);
    case 'contains':
      return anyOf(searchedTexts(column, texts).map((needle) => ({ kind: 'contains', column, needle })));
    case 'wildcard':
      refuseManyStars(clause, errors);
      return anyOf(searchedTexts(column, texts).map((pattern) => ({ kind: 'wildcard', column, parts: wildcardParts(pattern) })));
    case 'cidr':
      return cidrPredicate(clause, errors);
    default:
      return op satisfies never;
  }
}

/** What parts of values are looked for as: numbers of autonomous systems are stored without their `AS`. */
function searchedTexts(column: Dimension, texts: readonly string[]): readonly string[] {
  return ruleOf(column) === 'asNumber' ? [...new Set(texts.map(withoutAsPrefix))] : texts;
}

/**
 * Texts are cut as those of events are, so that all of a long one finds its event. Addresses are compared as numbers, so that different
 * spellings are equal, and so are masked ones. Any other text is compared as text, and can only equal the `ip` of an event that is neither.
 */
function equalityPredicate(column: Dimension, wanted: readonly string[]): Predicate {
  const rule = ruleOf(column);
  const written = rule === 'asNumber' ? wanted.map((text) => canonicalAsn(text) ?? text) : wanted;
  const texts = [...new Set(written.map(storedText))];
  if (rule !== 'address') {
    return equals(column, texts);
  }
  const read = texts.map((text) => ({ text, address: readAddress(text), network: parseMasked(text) }));
  const masked = rangesOf(read.map(({ network }) => network));
  const others = read.filter(({ address, network }) => address === null && network === null).map(({ text }) => text);
  return anyOf([
    ...addressPredicates(rangesOf(read.map(({ address }) => address)).map((range) => [range])),
    ...(masked.length > 0 ? [allOf([addressIn(masked), MASKED])] : []),
    ...(others.length > 0 ? [equals(column, others)] : []),
  ]);
}

/** A range of one address each. */
function rangesOf(addresses: readonly (bigint | null)[]): readonly AddressRange[] {
  return [...new Set(addresses.filter((address) => address !== null))].map((address) => ({ first: address, last: address }));
}

/** True for an event with a number whose `ip` is masked: no address ends with a star. */
const MASKED: Predicate = { kind: 'wildcard', column: 'ip', parts: ['', '*'] };

/**
 * The addresses of any of these parts of the address space, each in ascending ranges. A masked address has the number of the first address
 * of its network, so a part that has that one and not all of the network leaves masked ones out.
 */
function addressPredicates(parts: readonly (readonly AddressRange[])[]): readonly Predicate[] {
  const cutsNetwork = (part: readonly AddressRange[]): boolean => {
    const [start, end] = [part[0] as AddressRange, part.at(-1) as AddressRange];
    const network = maskedNetwork(start.first);
    return start.first === network.first && end.last < network.last;
  };
  const whole = parts.filter((part) => !cutsNetwork(part)).flat();
  const cutting = parts.filter(cutsNetwork).flat();
  return [
    ...(whole.length > 0 ? [addressIn(whole)] : []),
    ...(cutting.length > 0 ? [allOf([addressIn(cutting), { kind: 'not', of: MASKED }])] : []),
  ];
}

function cidrPredicate({ alternatives }: FilterClause, errors: ErrorList): Predicate {
  const parts: (readonly AddressRange[])[] = [];
  for (const alternative of alternatives) {
    const parsed = readCidr(alternative.text);
    if ('fault' in parsed) {
      errors.add(alternative.path, `${parsed.fault}, not ${shownValue(alternative.text)}`);
    } else {
      parts.push(parsed);
    }
  }
  return anyOf(addressPredicates(parts));
}

function applyOpRules({ path, field, op, alternatives }: FilterClause, errors: ErrorList): void {
  const { onAddresses, refusesEmpty } = FILTER_OPS[op];
  if (onAddresses && ruleOf(field) !== 'address') {
    const fields = DIMENSIONS.filter((name) => ruleOf(name) === 'address').join(', ');
    errors.add(`${path}.op`, `must not be ${op} on the field ${field}: only ${fields} has addresses`);
  }
  for (const alternative of refusesEmpty ? alternatives : []) {
    if (alternative.text === '') {
      errors.add(alternative.path, 'must not be empty: every value contains "", so it would ask for nothing');
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

/** The literal runs between the stars; stars in a row are one, so that `a**b` is `['a','b']` and `***` is `['','']`. */
export function wildcardParts(pattern: string): readonly string[] {
  return pattern.split(/\*+/);
}

function equals(column: Dimension, values: readonly string[]): Predicate {
  return { kind: 'equals', column, values, folded: CASE_IGNORED_FIELDS.has(column) };
}

function addressIn(ranges: readonly AddressRange[]): Predicate {
  return { kind: 'addressIn', ranges };
}

function allOf(predicates: readonly Predicate[]): Predicate {
  const [only] = predicates;
  if (only === undefined) {
    return { kind: 'everything' };
  }
  return predicates.length === 1 ? only : { kind: 'all', of: predicates };
}

function anyOf(predicates: readonly Predicate[]): Predicate {
  const [only] = predicates;
  return predicates.length === 1 && only !== undefined ? only : { kind: 'any', of: predicates };
}

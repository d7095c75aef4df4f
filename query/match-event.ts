import { foldText } from './match-event-fold.ts';
import type { MatchSubject } from './match-event-subject.ts';
import { matchesParts } from './match-event-wildcard.ts';
import type { AddressRange, Predicate } from './predicate.ts';

/** Whether an event fulfils a predicate. */
export type Matcher = (event: MatchSubject) => boolean;

/**
 * The predicate as a function of one event, which answers as the SQL of the same predicate does over stored events (one property test holds the two
 * against each other). What depends on the predicate alone is done here, once.
 */
export function compileMatcher(predicate: Predicate): Matcher {
  switch (predicate.kind) {
    case 'everything':
      return () => true;
    case 'all': {
      const matchers = predicate.of.map(compileMatcher);
      return (event) => matchers.every((matches) => matches(event));
    }
    case 'any': {
      const matchers = predicate.of.map(compileMatcher);
      return (event) => matchers.some((matches) => matches(event));
    }
    case 'equals':
      return equalsMatcher(predicate);
    case 'contains': {
      const { column } = predicate;
      const needle = foldText(predicate.needle);
      return (event) => event.folded(column)?.includes(needle) ?? false;
    }
    case 'wildcard': {
      const { column } = predicate;
      const parts = predicate.parts.map(foldText);
      return (event) => {
        const text = event.folded(column);
        return text !== undefined && matchesParts(text, parts);
      };
    }
    case 'addressIn':
      return addressMatcher(predicate.ranges);
    default:
      return predicate satisfies never;
  }
}

function equalsMatcher({ column, values, folded }: Extract<Predicate, { kind: 'equals' }>): Matcher {
  if (folded) {
    const wanted = new Set<string | undefined>(values.map(foldText));
    return (event) => wanted.has(event.folded(column));
  }
  const wanted = new Set<string | undefined>(values);
  return (event) => wanted.has(event.text(column));
}

/** A request may have thousands of ranges: they are sorted and joined where they touch, so that one alone is left to be looked at. */
function addressMatcher(ranges: readonly AddressRange[]): Matcher {
  const joined = joinRanges(ranges);
  return (event) => {
    const address = event.address();
    if (address === null) return false;
    let [low, high] = [0, joined.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((joined[middle] as AddressRange).last < address) low = middle + 1;
      else high = middle;
    }
    const range = joined[low];
    return range !== undefined && range.first <= address;
  };
}

function joinRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const joined: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const before = joined.at(-1);
    if (before === undefined || before.last < range.first) joined.push(range);
    else if (before.last < range.last) joined[joined.length - 1] = { first: before.first, last: range.last };
  }
  return joined;
}

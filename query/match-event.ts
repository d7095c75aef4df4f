import type { TextField } from './event-fields.ts';
import { foldText } from './match-event-fold.ts';
import type { MatchSubject } from './match-event-subject.ts';
import { wildcardSearch } from './match-event-wildcard.ts';
import type { AddressRange, Predicate } from './predicate.ts';
import { textSearch } from './text-search.ts';

/** Whether an event fulfils a predicate. */
export type Matcher = (event: MatchSubject) => boolean;

/** One look through a text of the event. */
interface Look {
  readonly column: TextField;
  readonly cost: (characters: number) => number;
}

/** A matcher that says beforehand what it may cost. It adds what it did cost to `work` of the event. */
export interface CostedMatcher {
  readonly matches: Matcher;
  /** What it costs at most to try the event, in characters that are looked through. */
  maxWork(event: MatchSubject): number;
  /** How often each column is looked through at most. */
  readonly looks: ReadonlyMap<TextField, number>;
}

/**
 * The predicate as a function of one event, which answers as the SQL of the same predicate does over stored events (one property test holds
 * the two against each other). What depends on the predicate alone is done here, once. Its time grows with the texts of the event times
 * `looks`, whatever they hold.
 */
export function compileMatcher(predicate: Predicate): CostedMatcher {
  const looks: Look[] = [];
  const matches = matcherOf(predicate, looks);
  const counts = new Map<TextField, number>();
  for (const { column } of looks) counts.set(column, (counts.get(column) ?? 0) + 1);
  const maxWork = (event: MatchSubject): number => {
    let work = 1;
    for (const { column, cost } of looks) work += cost(event.text(column)?.length ?? 0);
    return work;
  };
  return { matches, maxWork, looks: counts };
}

function matcherOf(predicate: Predicate, looks: Look[]): Matcher {
  switch (predicate.kind) {
    case 'everything':
      return () => true;
    case 'all': {
      const matchers = predicate.of.map((part) => matcherOf(part, looks));
      return (event) => matchers.every((matches) => matches(event));
    }
    case 'any': {
      const matchers = alternativeMatchers(predicate.of, looks);
      return (event) => matchers.some((matches) => matches(event));
    }
    case 'equals':
      return equalsMatcher(predicate);
    case 'contains':
      return containsMatcher(predicate.column, [predicate.needle], looks);
    case 'wildcard': {
      const { matches, cost } = wildcardSearch(predicate.parts.map(foldText));
      return lookMatcher({ column: predicate.column, cost }, matches, looks);
    }
    case 'addressIn':
      return addressMatcher(predicate.ranges);
    default:
      return predicate satisfies never;
  }
}

/** The texts that one column may contain are looked for together. */
function alternativeMatchers(alternatives: readonly Predicate[], looks: Look[]): Matcher[] {
  const needles = new Map<TextField, string[]>();
  const matchers: Matcher[] = [];
  for (const part of alternatives) {
    if (part.kind !== 'contains') matchers.push(matcherOf(part, looks));
    else needles.set(part.column, [...(needles.get(part.column) ?? []), part.needle]);
  }
  for (const [column, texts] of needles) matchers.push(containsMatcher(column, texts, looks));
  return matchers;
}

function containsMatcher(column: TextField, needles: readonly string[], looks: Look[]): Matcher {
  const { endOfFirst, cost } = textSearch(needles.map(foldText));
  return lookMatcher({ column, cost }, (text) => endOfFirst(text, 0) !== -1, looks);
}

function lookMatcher(look: Look, matches: (text: string) => boolean, looks: Look[]): Matcher {
  looks.push(look);
  const { column, cost } = look;
  return (event) => {
    const text = event.folded(column);
    if (text === undefined) return false;
    event.work += cost(text.length);
    return matches(text);
  };
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

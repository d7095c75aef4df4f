import { type AddressRange, joinedRanges, parseIp } from '../address.ts';
import type { TextField } from '../event-fields.ts';
import type { Predicate } from '../plan/search-plan.ts';
import { textSearch } from './text-search.ts';
import { wildcardSearch } from './wildcard-search.ts';

/** The values that an event has, empty texts included. */
export type EventTexts = Readonly<Partial<Record<TextField, string>>>;

/** An event that predicates are tried on. Values that several predicates need are computed once. */
export interface MatchSubject {
  /** Undefined if the event has no such value. */
  text(column: TextField): string | undefined;
  /** The same in lower case. */
  folded(column: TextField): string | undefined;
  /** The `ip` as a number of 128 bits, as `parseIp` has it; null if it is missing or has none. */
  address(): bigint | null;
  /** Cost of all matching so far, in characters that were read. */
  work: number;
}

export function matchSubject(texts: EventTexts): MatchSubject {
  const foldedTexts = new Map<TextField, string | undefined>();
  let address: bigint | null | undefined;
  return {
    work: 0,
    text: (column) => texts[column],
    folded(column) {
      let folded = foldedTexts.get(column);
      if (folded === undefined) {
        const text = texts[column];
        folded = text === undefined ? undefined : foldText(text);
        foldedTexts.set(column, folded);
      }
      return folded;
    },
    address() {
      if (address === undefined) address = texts.ip === undefined ? null : parseIp(texts.ip);
      return address;
    },
  };
}

/** Whether an event matches a predicate. */
export type Matcher = (event: MatchSubject) => boolean;

/** A search through one text of the event. */
interface Scan {
  readonly column: TextField;
  readonly cost: (characters: number) => number;
}

/** A matcher that bounds its cost in advance. It adds its actual cost to `work` of the event. */
export interface CostedMatcher {
  readonly matches: Matcher;
  /** The highest cost of trying the event, in characters that are read. */
  maxWork(event: MatchSubject): number;
  /** How often each column is searched through at most. */
  readonly scans: ReadonlyMap<TextField, number>;
}

/**
 * Turns a predicate into a function of one event that gives the same answers as its SQL over stored events (a property test compares them).
 * Its time grows with the lengths of the event's texts times `scans`, whatever the texts are.
 */
export function compileMatcher(predicate: Predicate): CostedMatcher {
  const scans: Scan[] = [];
  const matches = matcherOf(predicate, scans);
  const counts = new Map<TextField, number>();
  for (const { column } of scans) counts.set(column, (counts.get(column) ?? 0) + 1);
  const maxWork = (event: MatchSubject): number => {
    let work = 1;
    for (const { column, cost } of scans) work += cost(event.text(column)?.length ?? 0);
    return work;
  };
  return { matches, maxWork, scans: counts };
}

function matcherOf(predicate: Predicate, scans: Scan[]): Matcher {
  switch (predicate.kind) {
    case 'everything':
      return () => true;
    case 'all': {
      const matchers = predicate.of.map((part) => matcherOf(part, scans));
      return (event) => matchers.every((matches) => matches(event));
    }
    case 'any': {
      const matchers = alternativeMatchers(predicate.of, scans);
      return (event) => matchers.some((matches) => matches(event));
    }
    case 'not': {
      const matches = matcherOf(predicate.of, scans);
      return (event) => !matches(event);
    }
    case 'equals':
      return equalsMatcher(predicate);
    case 'contains':
      return containsMatcher(predicate.column, [predicate.needle], scans);
    case 'wildcard': {
      const { matches, cost } = wildcardSearch(predicate.parts.map(foldText));
      return scanMatcher({ column: predicate.column, cost }, matches, scans);
    }
    case 'addressIn':
      return addressMatcher(predicate.ranges);
    default:
      return predicate satisfies never;
  }
}

/** One matcher for all needles of a column, so that its text is read once, and one for each other alternative. */
function alternativeMatchers(alternatives: readonly Predicate[], scans: Scan[]): Matcher[] {
  const needles = new Map<TextField, string[]>();
  const matchers: Matcher[] = [];
  for (const part of alternatives) {
    if (part.kind !== 'contains') matchers.push(matcherOf(part, scans));
    else needles.set(part.column, [...(needles.get(part.column) ?? []), part.needle]);
  }
  for (const [column, texts] of needles) matchers.push(containsMatcher(column, texts, scans));
  return matchers;
}

function containsMatcher(column: TextField, needles: readonly string[], scans: Scan[]): Matcher {
  const { endOfFirst, cost } = textSearch(needles.map(foldText));
  return scanMatcher({ column, cost }, (text) => endOfFirst(text, 0) !== -1, scans);
}

function scanMatcher(scan: Scan, matches: (text: string) => boolean, scans: Scan[]): Matcher {
  scans.push(scan);
  const { column, cost } = scan;
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

/** Finds the address by binary search, because a request may have thousands of ranges. */
function addressMatcher(ranges: readonly AddressRange[]): Matcher {
  const disjoint = joinedRanges(ranges);
  return (event) => {
    const address = event.address();
    if (address === null) return false;
    let [low, high] = [0, disjoint.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((disjoint[middle] as AddressRange).last < address) low = middle + 1;
      else high = middle;
    }
    const range = disjoint[low];
    return range !== undefined && range.first <= address;
  };
}

/**
 * Letters whose lower case differs between JavaScript and DuckDB: JavaScript makes two characters of the capital I with a dot and looks at
 * the neighbours of a sigma, and DuckDB 1.5 lacks the letters that got a lower case in Unicode 16 and 17.
 */
const UNLIKE_DUCKDB = /[\u0130\u03a3\u1c89\ua7cb-\ua7ce\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;

/** Runs of letters whose lower case is the same in both. */
const RUNS_LIKE_DUCKDB = new RegExp(`${UNLIKE_DUCKDB.source.replace('[', '[^')}+`, 'gu');

/** Lower case, code point by code point, exactly as DuckDB's `lower`, because a tail and a search must find the same events. */
export function foldText(text: string): string {
  if (!UNLIKE_DUCKDB.test(text)) {
    return text.toLowerCase();
  }
  const simple = text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3');
  return UNLIKE_DUCKDB.test(simple) ? simple.replace(RUNS_LIKE_DUCKDB, (run) => run.toLowerCase()) : simple.toLowerCase();
}

import type { FeedZones } from './feed-zones.ts';
import { predicateCost } from './read-cost.ts';
import type { Predicate, ZoneSelection } from './search-plan.ts';

/** Which events a reader of the feed gets, and whether with their logs. */
export interface WantedEvents {
  readonly zones: FeedZones;
  /** Absent: all events of the zones. */
  readonly where?: Predicate;
  /** False leaves the logs out, which are most of the bytes of an event. */
  readonly logs?: boolean;
}

const EVERYTHING: Predicate = { kind: 'everything' };

/** A page ends after about so many events that were looked at for those that match. */
export const MAX_LOOKED_AT = 1_000_000;

/** What looking at the events of a page is estimated to take of one core at most, in nanoseconds. */
const LOOK_NS = 200_000_000;

/** How many events are looked at for a page: fewer where the condition is costly, so that it is there in time. */
export function mostLookedAt({ where = EVERYTHING }: Pick<WantedEvents, 'where'>): number {
  return Math.min(MAX_LOOKED_AT, Math.ceil(LOOK_NS / Math.max(1, predicateCost(where).eventNs)));
}

/** A text that is the same for those alone who want the same. */
export function wantedKey({ zones, where, logs = true }: WantedEvents): string {
  return JSON.stringify([zones, where, logs], (_name, value) => (typeof value === 'bigint' ? String(value) : value));
}

/**
 * The part of a condition that asks for whole values. Every event that matches the condition matches it, and others may: what looks through
 * texts or compares addresses is taken to be true.
 */
export function wholeValues(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'everything':
    case 'equals':
      return predicate;
    case 'all': {
      const of = predicate.of.map(wholeValues).filter(({ kind }) => kind !== 'everything');
      const [only = EVERYTHING, ...others] = of;
      return others.length === 0 ? only : { kind: 'all', of };
    }
    case 'any':
      return anyOf(predicate.of.map(wholeValues));
    case 'not':
      return isOfWholeValues(predicate.of) ? predicate : EVERYTHING;
    case 'contains':
    case 'wildcard':
    case 'addressIn':
      return EVERYTHING;
    default:
      return predicate satisfies never;
  }
}

/** What readers want together, and maybe more: the zones of all of them, and what one of their conditions matches. */
export function wantedTogether(
  readers: readonly { readonly zones: ZoneSelection; readonly where: Predicate }[],
): Required<Pick<WantedEvents, 'where'>> & { readonly zones: ZoneSelection } {
  return { zones: zonesTogether(readers), where: anyOf(readers.map(({ where }) => where)) };
}

/** The zones of all readers. */
export function zonesTogether(readers: readonly { readonly zones: ZoneSelection }[]): ZoneSelection {
  return readers.some(({ zones }) => zones === 'all') ? 'all' : [...new Set(readers.flatMap(({ zones }) => zones as number[]))];
}

/**
 * The condition that one of these is met; `everything` where one of them is. The whole values of a column are together, because an engine
 * tries alternatives one by one, and looks a value up among many at once.
 */
export function anyOf(predicates: readonly Predicate[]): Predicate {
  if (predicates.some(({ kind }) => kind === 'everything')) return EVERYTHING;
  const ofColumn = Map.groupBy(predicates.filter(isWholeValue), ({ column, folded }) => `${column} ${folded}`);
  const together = [...ofColumn.values()].flatMap(([first, ...others]) => {
    return first === undefined ? [] : [{ ...first, values: [...new Set([first, ...others].flatMap(({ values }) => values))] }];
  });
  return { kind: 'any', of: [...together, ...predicates.filter((predicate) => !isWholeValue(predicate))] };
}

function isWholeValue(predicate: Predicate): predicate is Extract<Predicate, { kind: 'equals' }> {
  return predicate.kind === 'equals';
}

function isOfWholeValues(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return predicate.of.every(isOfWholeValues);
    case 'not':
      return isOfWholeValues(predicate.of);
    default:
      return predicate.kind === 'everything' || predicate.kind === 'equals';
  }
}

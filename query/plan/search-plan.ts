import type { AddressRange } from '../address.ts';
import type { GroupDimension, SearchedField } from '../event-fields.ts';

/** A validated search: everything that an engine is given. */
export interface SearchPlan {
  readonly zones: ZoneSelection;
  readonly window: TimeWindow;
  readonly where: Predicate;
  readonly page: Page;
  readonly output: RowsOutput | GroupsOutput;
}

/** A plan of all events in a window, of which no page is wanted. */
export function everythingIn(window: TimeWindow, zones: ZoneSelection): SearchPlan {
  return { zones, window, where: { kind: 'everything' }, page: { index: 0, size: 0 }, output: { kind: 'rows' } };
}

/** The zones whose events are searched: ascending, each once, at least one; or all that have events. */
export type ZoneSelection = readonly number[] | 'all';

/** Half-open time range `[fromMs, toMs)`, Unix milliseconds UTC. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The smallest window that has both. */
export function hullOf(a: TimeWindow, b: TimeWindow): TimeWindow {
  return { fromMs: Math.min(a.fromMs, b.fromMs), toMs: Math.max(a.toMs, b.toMs) };
}

export interface Page {
  /** Zero-based. */
  readonly index: number;
  /** 1..`MAX_PER_ANSWER`; in a question of the explorer also 0. */
  readonly size: number;
}

export interface RowsOutput {
  readonly kind: 'rows';
}

export interface GroupsOutput {
  readonly kind: 'groups';
  readonly by: readonly GroupDimension[];
  /** Number of sparkline buckets, 0..`MAX_PER_ANSWER`; 0 leaves the sparkline out. */
  readonly buckets: number;
}

/**
 * A condition on an event. A condition on a column is false for events without that column. "Folded" means compared after both sides are
 * lower-cased code point by code point.
 */
export type Predicate =
  | { readonly kind: 'everything' }
  | { readonly kind: 'all'; readonly of: readonly Predicate[] }
  | { readonly kind: 'any'; readonly of: readonly Predicate[] }
  /** True for every event for which `of` is not true, also for one that lacks its column. */
  | { readonly kind: 'not'; readonly of: Predicate }
  | { readonly kind: 'equals'; readonly column: SearchedField; readonly values: readonly string[]; readonly folded: boolean }
  /** Folded. */
  | { readonly kind: 'contains'; readonly column: SearchedField; readonly needle: string }
  /** `parts` are the literal runs between the stars: `a*b` is `['a','b']`, `*` is `['','']`. Folded, anchored at both ends. */
  | { readonly kind: 'wildcard'; readonly column: SearchedField; readonly parts: readonly string[] }
  /** The `ip` column as a number is in one of the ranges. */
  | { readonly kind: 'addressIn'; readonly ranges: readonly AddressRange[] };

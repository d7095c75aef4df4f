import type { Dimension, GroupDimension } from '../../query/event-fields.ts';
import type { LineSearch } from '../../query/search-line.ts';
import type { OfferedColumn } from './offered-columns.ts';
import type { TimeRange } from './time-range.ts';

/** What is searched: every zone that the key opens, or these, ascending. */
export type Zones = 'all' | readonly number[];

/** The part of the events that is held against the rest of them. */
export type Comparison =
  | { readonly kind: 'time'; readonly from: number; readonly to: number }
  | { readonly kind: 'value'; readonly field: Dimension; readonly value: string }
  /** A search line that has conditions, and no fault. */
  | { readonly kind: 'line'; readonly line: string }
  /** All of the events, held against those of the 24 hours before them. */
  | { readonly kind: 'before' };

/** The event that is shown whole. */
export interface EventKey {
  readonly zone: number;
  readonly timestamp: number;
  readonly logId: string;
}

/** Everything that a person has chosen, as it stands in the link. */
export interface ExplorerState {
  readonly zones: Zones;
  readonly range: TimeRange;
  readonly search: LineSearch;
  /** The field that colours the histogram; null: one colour. */
  readonly by: GroupDimension | null;
  /** Empty: the table has events, otherwise groups. */
  readonly groupBy: readonly GroupDimension[];
  /** Of the table of events, in its order; null: the usual ones. */
  readonly columns: readonly OfferedColumn[] | null;
  readonly comparison: Comparison | null;
  readonly event: EventKey | null;
  readonly isLive: boolean;
  /** Whether the page asks again by itself. */
  readonly isRefreshing: boolean;
  readonly clock: 'local' | 'utc';
}

export const NO_SEARCH: LineSearch = { query: '', filters: [], exclude: [] };

/** A first look has to be there at once, also where there are millions of events a day. */
const FIRST_RANGE: TimeRange = { kind: 'last', minutes: 12 * 60 };

export const DEFAULT_STATE: ExplorerState = {
  zones: 'all',
  range: FIRST_RANGE,
  search: NO_SEARCH,
  by: 'action',
  groupBy: [],
  columns: null,
  comparison: null,
  event: null,
  isLive: false,
  isRefreshing: false,
  clock: 'local',
};

/** The zones as paths have them. */
export function zonesText(zones: Zones): string {
  return zones === 'all' ? 'all' : zones.join(',');
}

/** The state without what its range rules out: nothing comes into a time that has ended, so it is not watched. */
export function consistent(state: ExplorerState): ExplorerState {
  return state.isLive && state.range.kind === 'between' ? { ...state, isLive: false } : state;
}

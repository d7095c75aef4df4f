import type { GroupDimension } from '../event-fields.ts';
import type { Predicate, SearchPlan, TimeWindow } from './search-plan.ts';

/** A validated question of the explorer about the result R, the events that `search` finds. All of it is answered from one snapshot. */
export interface ExplorePlan {
  /** Its page may have the size 0: then only the total is asked for. */
  readonly search: SearchPlan;
  readonly histogram: HistogramRequest | null;
  /** Each field once, at most all. */
  readonly facets: readonly FacetRequest[];
  readonly selection: Selection | null;
  /** Conditions of which all sets are counted that events of R meet; at least two, at most `MAX_COMBINED`. Only with a selection. */
  readonly combinations?: readonly Predicate[];
}

export interface HistogramRequest {
  /** 1..`MAX_PER_ANSWER`. */
  readonly buckets: number;
  /** What the buckets divide where that is not the window of the search: multiples of a width around it. Events are those of the search. */
  readonly window?: TimeWindow;
  /** Null: one series of all events. */
  readonly by: GroupDimension | null;
}

export interface FacetRequest {
  readonly field: GroupDimension;
  /** 1..`MAX_FACET_VALUES`. */
  readonly limit: number;
  /** `difference` only with a selection. */
  readonly order: FacetOrder;
}

/**
 * `count`: the most frequent values first. `difference`: first those whose share of the selection exceeds their share of the rest of R
 * most. Ties go by count descending, then by value ascending by code point.
 */
export type FacetOrder = 'count' | 'difference';

/** The part S of R that is held against the rest of R: the events of R in `window` that match `where`. */
export interface Selection {
  /** Within the window of the search; empty where its two ends are equal. */
  readonly window: TimeWindow;
  readonly where: Predicate;
}

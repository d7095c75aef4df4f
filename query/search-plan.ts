import type { Dimension } from './dimensions.ts';
import type { Predicate } from './predicate.ts';

/** Half-open time range `[fromMs, toMs)`, Unix milliseconds UTC. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Page {
  /** Zero-based. */
  readonly index: number;
  /** 1..500. */
  readonly size: number;
}

export interface RowsOutput {
  readonly kind: 'rows';
}

export interface GroupsOutput {
  readonly kind: 'groups';
  readonly by: readonly Dimension[];
  /** Number of sparkline buckets, 0..500; 0 leaves the sparkline out. */
  readonly buckets: number;
}

/** A validated search of one zone: what every engine is given, and all it is given. */
export interface SearchPlan {
  readonly zoneId: number;
  readonly window: TimeWindow;
  readonly where: Predicate;
  readonly page: Page;
  readonly output: RowsOutput | GroupsOutput;
}

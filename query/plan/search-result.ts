import type { GroupDimension } from '../event-fields.ts';

export interface EventRow {
  readonly zoneId: number;
  readonly logId: string;
  /** Unix milliseconds UTC. */
  readonly timestamp: number;
  /** The log object as JSON, in UTF-8. It goes into the answer as it is, so that no digit is lost and no text is made of it. */
  readonly log: Uint8Array;
  /** The dimensions that the event has, plus `ruleName`. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Some of the rows of an answer, in its order. Each is made when it is asked for, so that few are in memory as objects. */
export interface RowPiece extends Iterable<EventRow> {
  readonly length: number;
  /** What it takes in memory, about. */
  readonly bytes: number;
  /** Whether no piece follows. */
  readonly isLast: boolean;
}

export interface GroupContext {
  readonly country: string;
  readonly asn: string;
  readonly blocked: number;
  readonly challenged: number;
  readonly logged: number;
  /** Distinct values, ascending by code point, joined by `,`. */
  readonly features: string;
  readonly ruleIds: string;
}

export interface EventGroup {
  readonly key: Readonly<Partial<Record<GroupDimension, string>>>;
  readonly count: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly context: GroupContext;
  /** Present exactly when the plan asked for buckets. */
  readonly sparkline?: readonly number[];
}

/** `total` counts the full result (rows, or distinct groups) at the time of the search. */
export type SearchResult = { readonly kind: 'rows'; readonly rows: AsyncIterable<RowPiece>; readonly total: number } | GroupsResult;

export interface GroupsResult {
  readonly kind: 'groups';
  readonly groups: readonly EventGroup[];
  readonly total: number;
}

/** The answer to an `ExplorePlan`. Parts that were not asked for are null. */
export interface ExploreResult {
  /** The page of rows or groups, empty where its size is 0, and the total. */
  readonly page: SearchResult;
  readonly histogram: Histogram | null;
  /** In the order in which they were asked for. */
  readonly facets: readonly Facet[] | null;
  /** Number of the events of the selection. */
  readonly selectedTotal: number | null;
  /** By count descending, then by their conditions. */
  readonly combinations: readonly Combination[] | null;
}

/** A set of conditions, and how many events meet exactly these. */
export interface Combination {
  /** The indexes of the conditions in the plan, ascending. */
  readonly met: readonly number[];
  readonly count: number;
  /** How many of these events are in the selection. */
  readonly selected: number;
}

export interface Histogram {
  /** The most frequent values first: count descending, then value ascending by code point. At most `MAX_HISTOGRAM_SERIES`. */
  readonly series: readonly HistogramSeries[];
  /** All other values together; null where there are none. */
  readonly other: HistogramCounts | null;
}

export interface HistogramCounts {
  readonly total: number;
  /** Number of events of each bucket, which are those of a sparkline. */
  readonly counts: readonly number[];
}

export interface HistogramSeries extends HistogramCounts {
  /** Null where the histogram has one series of all events; a missing value is the empty text. */
  readonly value: string | null;
}

export interface Facet {
  readonly field: GroupDimension;
  /** How many different values the events of the search have; missing and empty ones are one, and so are spellings of a value. */
  readonly distinct: number;
  readonly values: readonly FacetValue[];
}

export interface FacetValue {
  /** A missing value is the empty text. Of several spellings it is the most frequent one, the smaller by code point among equals. */
  readonly value: string;
  /** How many events of the search have the value. */
  readonly count: number;
  /** How many events of the selection have the value; null without a selection. */
  readonly selected: number | null;
  /** How many spellings of the value the events of the search have: 1 for fields that are not folded. */
  readonly spellings: number;
}

/** Why a live tail left events out: its client did not read (`unread`), or matching them costs too much (`costly`). */
export type DropReason = 'unread' | 'costly';

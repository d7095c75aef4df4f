import type { Dimension } from './dimensions.ts';

export interface EventRow {
  readonly logId: string;
  /** Unix milliseconds UTC. */
  readonly timestamp: number;
  /** The log object as JSON text, spliced into the answer unparsed so that no digit is lost. */
  readonly logJson: string;
  /** The dimensions that the event has, plus `ruleName`. */
  readonly fields: Readonly<Record<string, string>>;
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
  readonly key: Readonly<Partial<Record<Dimension, string>>>;
  readonly count: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly context: GroupContext;
  /** Present exactly when the plan asked for buckets. */
  readonly sparkline?: readonly number[];
}

/** `total` counts the full result (rows, or distinct groups) at the time of the search. */
export type SearchResult =
  | { readonly kind: 'rows'; readonly rows: readonly EventRow[]; readonly total: number }
  | { readonly kind: 'groups'; readonly groups: readonly EventGroup[]; readonly total: number };

import type { GroupDimension } from '../../query/event-fields.ts';
import type { LineClause } from '../../query/search-line.ts';
import { ask, askText } from './client.ts';
import { type EventRow, readRows } from './event-row.ts';

/** A window in Unix milliseconds, `from` inclusive, `to` exclusive. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The body of a question of the explorer. */
export interface ExploreRequest extends Window {
  readonly query: string;
  readonly filters: readonly LineClause[];
  readonly exclude: readonly LineClause[];
  readonly groupBy?: readonly GroupDimension[];
  /** Of the sparkline of each group. */
  readonly buckets?: number;
  readonly page?: number;
  /** 0: neither rows nor groups. */
  readonly pageSize: number;
  readonly histogram?: { readonly buckets: number; readonly by: GroupDimension | null };
  readonly facets?: readonly { readonly field: GroupDimension; readonly limit: number; readonly order: 'count' | 'difference' }[];
  readonly selection?: Partial<Window> & { readonly filters?: readonly LineClause[]; readonly exclude?: readonly LineClause[] };
}

export interface Group {
  readonly key: Readonly<Partial<Record<GroupDimension, string>>>;
  readonly count: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly context: {
    readonly country: string;
    readonly asn: string;
    readonly blocked: number;
    readonly challenged: number;
    readonly logged: number;
    readonly features: string;
    readonly ruleIds: string;
  };
  readonly sparkline?: readonly number[];
}

export interface Series {
  /** Null where the histogram has one series of all events; a missing value is the empty text. */
  readonly value: string | null;
  readonly total: number;
  readonly counts: readonly number[];
}

export interface Histogram extends Window {
  readonly buckets: number;
  readonly series: readonly Series[];
  /** All other values together; null where nothing is left over. */
  readonly other: { readonly total: number; readonly counts: readonly number[] } | null;
}

export interface FacetValue {
  readonly value: string;
  readonly count: number;
  /** Null without a selection. */
  readonly selected: number | null;
}

export interface Facet {
  readonly field: GroupDimension;
  readonly distinct: number;
  readonly values: readonly FacetValue[];
}

export interface ExploreAnswer {
  readonly rows: readonly EventRow[] | null;
  readonly groups: readonly Group[] | null;
  /** Of rows or groups, whichever were asked for. */
  readonly total: number;
  readonly totalPages: number;
  readonly page: number;
  readonly histogram: Histogram | null;
  readonly facets: readonly Facet[] | null;
  readonly selectedTotal: number | null;
}

/** `zones` is a zone, a list with commas, or `all`. */
export async function explore(zones: string, body: ExploreRequest, signal: AbortSignal): Promise<ExploreAnswer> {
  const text = await askText(`/shield/event-logs/${zones}/explore`, { body, signal });
  const answer = JSON.parse(text) as ExploreAnswer;
  return { ...answer, rows: answer.rows === null ? null : readRows(text) };
}

export interface ZoneCount {
  readonly shieldZoneId: number;
  readonly count: number;
  /** Unix milliseconds of its latest event. */
  readonly last: number;
}

/** The zones that have events in the window and that the key opens, the busiest first. */
export async function zonesIn({ from, to }: Window, signal: AbortSignal): Promise<readonly ZoneCount[]> {
  const { zones } = await ask<{ readonly zones: readonly ZoneCount[] }>(`/shield/event-logs/zones?from=${from}&to=${to}`, { signal });
  return zones;
}

import type { GroupDimension } from '../../query/event-fields.ts';
import type { FacetRequest } from '../../query/plan/explore-plan.ts';
import type { Combination, EventGroup, Facet, Histogram } from '../../query/plan/search-result.ts';
import type { LineClause, LineSearch } from '../../query/search-line.ts';
import { ask, askWithHeaders } from './client.ts';
import { type ParsedRow, readRows } from './parsed-row.ts';

/** A window in Unix milliseconds, `from` inclusive, `to` exclusive. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The body of a question of the explorer. */
export interface QuestionBody extends Window {
  readonly query: string;
  readonly filters: readonly LineClause[];
  readonly exclude: readonly LineClause[];
  readonly groupBy?: readonly GroupDimension[];
  /** Of the sparkline of each group. */
  readonly buckets?: number;
  readonly page?: number;
  /** 0: neither rows nor groups. */
  readonly pageSize: number;
  readonly histogram?: { readonly width: number; readonly by: GroupDimension | null };
  readonly facets?: readonly FacetRequest[];
  /** Only with a selection. */
  readonly combinations?: readonly { readonly field: GroupDimension; readonly value: string }[];
  readonly selection?: Partial<Window & LineSearch>;
}

/** As in the plan's answer, with the time from the begin of its first bucket to the end of the last one, and their number. */
export interface HistogramInWindow extends Window, Histogram {
  readonly buckets: number;
}

export interface ExploreAnswer {
  readonly rows: readonly ParsedRow[] | null;
  readonly groups: readonly EventGroup[] | null;
  /** Of rows or groups, whichever were asked for. */
  readonly total: number;
  readonly totalPages: number;
  readonly page: number;
  readonly histogram: HistogramInWindow | null;
  readonly facets: readonly Facet[] | null;
  readonly selectedTotal: number | null;
  readonly combinations: readonly Combination[] | null;
  /** The most events that the answer lacks, because the program cannot read them. */
  readonly unreadable: number;
}

/** The path of the explorer. Like all paths of the page it is relative to the page, which a proxy may serve below a path of its own. */
export function explorePath(zones: string): string {
  return `shield/event-logs/${zones}/explore`;
}

/** `zones` is a zone, a list with commas, or `all`. */
export async function askExplorer(zones: string, body: QuestionBody, signal: AbortSignal): Promise<ExploreAnswer> {
  const { text, headers } = await askWithHeaders(explorePath(zones), { body, signal });
  const answer = JSON.parse(text) as ExploreAnswer;
  return { ...answer, unreadable: Number(headers.get('shield-incomplete') ?? 0), rows: answer.rows === null ? null : readRows(text) };
}

export interface RuleCount {
  readonly ruleId: string;
  /** The most frequent one, empty where its events have none. */
  readonly ruleName: string;
  readonly count: number;
}

/** The rules with events in the window, the busiest first. */
export async function rulesIn(zones: string, { from, to }: Window, signal: AbortSignal): Promise<readonly RuleCount[]> {
  const path = `shield/event-logs/${zones}/rules?from=${from}&to=${to}`;
  return (await ask<{ readonly rules: readonly RuleCount[] }>(path, { signal })).rules;
}

export interface ZoneCount {
  readonly shieldZoneId: number;
  readonly count: number;
  /** Unix milliseconds of its latest event. */
  readonly last: number;
}

/** The zones that have events in the window and that the key opens, the busiest first. */
export async function zonesIn({ from, to }: Window, signal: AbortSignal): Promise<readonly ZoneCount[]> {
  const { zones } = await ask<{ readonly zones: readonly ZoneCount[] }>(`shield/event-logs/zones?from=${from}&to=${to}`, { signal });
  return zones;
}

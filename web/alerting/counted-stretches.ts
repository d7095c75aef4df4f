import { MINUTE_MS } from '../../query/durations.ts';
import type { GroupDimension } from '../../query/event-fields.ts';
import { MAX_PER_ANSWER } from '../../query/search-limits.ts';
import type { LineSearch } from '../../query/search-line.ts';
import { askExplorer, type QuestionBody, type Window } from '../api/explore.ts';
import { totalsOf } from '../overview/stacked-bars.ts';
import { REACH_MS } from '../state/time-range.ts';

/** A group with its events in each half of a window, over a stretch of time. */
export interface CountedGroup {
  readonly group: readonly string[];
  readonly halves: readonly number[];
}

/** What was counted in a stretch of time. */
export interface CountedStretch extends Window {
  readonly groups: readonly CountedGroup[];
  /** No window of another group has more events; 0: there is no other group. */
  readonly mostElsewhere: number;
}

/** Groups that are counted of a stretch, the busiest ones. */
export const COUNTED_GROUPS = 200;

/**
 * The stretches of time that are asked for one after the other: those of all windows that lie whole within the time that searches reach.
 * Windows begin every half of their length, in Unix time, and each lies whole in one stretch.
 */
export function stretchesAt(nowMs: number, windowMinutes: number): readonly Window[] {
  const halfMs = (windowMinutes * MINUTE_MS) / 2;
  const end = Math.floor(nowMs / halfMs);
  const stretches: Window[] = [];
  for (let first = Math.ceil((nowMs - REACH_MS) / halfMs); first < end - 1; first += MAX_PER_ANSWER - 1) {
    stretches.push({ from: first * halfMs, to: Math.min(end, first + MAX_PER_ANSWER) * halfMs });
  }
  return stretches;
}

/** Which events are counted, and by what. */
export interface CountedBy {
  readonly zones: string;
  readonly search: LineSearch;
  readonly by: readonly GroupDimension[];
  readonly windowMinutes: number;
}

/** Counts the events in half windows. Throws RequestFailed. */
export async function countStretches(
  { zones, search, by, windowMinutes }: CountedBy,
  stretches: readonly Window[],
  signal: AbortSignal,
): Promise<readonly CountedStretch[]> {
  const width = (windowMinutes * MINUTE_MS) / 2;
  const counted: CountedStretch[] = [];
  // One after the other, the oldest first: a moment later it could not be searched any more.
  for (const stretch of stretches) {
    const body = { ...stretch, ...search, ...askedOf(by, (stretch.to - stretch.from) / width, width) };
    const { histogram, groups, total } = await askExplorer(zones, body, signal);
    const all = histogram === null ? [] : [{ group: [], halves: totalsOf(histogram) }];
    const found = groups?.map(({ key, sparkline = [] }) => ({ group: by.map((field) => key[field] ?? ''), halves: sparkline }));
    const mostElsewhere = groups !== null && total > groups.length ? (groups.at(-1)?.count ?? 0) : 0;
    counted.push({ ...stretch, groups: found ?? all, mostElsewhere });
  }
  return counted;
}

function askedOf(by: readonly GroupDimension[], buckets: number, width: number): Partial<QuestionBody> & Pick<QuestionBody, 'pageSize'> {
  if (by.length === 0) return { pageSize: 0, histogram: { width, by: null } };
  return { pageSize: COUNTED_GROUPS, groupBy: by, buckets };
}

import type { TimeWindow } from '../../../query/search-plan.ts';
import type { SearchScope } from '../search/search-scope.ts';
import type { Segment } from '../segment/segment.ts';

/** Flushed events that are counted once for many searches: those of some segments, from a time on. */
export interface Coverage {
  readonly segments: readonly Segment[];
  /** Unix milliseconds; the segments may have earlier events. */
  readonly fromMs: number;
}

/** A window that moves leaves out so much of itself at most until what is covered moves after it. */
const PARTS_OF_A_WINDOW = 16;

/**
 * What of a search's flushed events stays in its window for a while, as the window moves on: all of the segments that end in it. Where it
 * cuts some of them, only what is behind the next full step of time, which is the same one for many windows of about that length.
 */
export function coverageOf({ plan: { window }, segments }: Pick<SearchScope, 'plan' | 'segments'>): Coverage {
  const ending = segments.filter(({ maxTimestamp }) => maxTimestamp < window.toMs);
  if (ending.every(({ minTimestamp }) => minTimestamp >= window.fromMs)) {
    return { segments: ending, fromMs: Math.min(...ending.map(({ minTimestamp }) => minTimestamp)) };
  }
  const stepMs = stepOf(window);
  const fromMs = Math.ceil(window.fromMs / stepMs) * stepMs;
  return { segments: ending.filter(({ maxTimestamp }) => maxTimestamp >= fromMs), fromMs };
}

/** A power of two: a window that grows keeps its step until it is twice as long. */
function stepOf({ fromMs, toMs }: TimeWindow): number {
  return 2 ** Math.max(0, Math.floor(Math.log2((toMs - fromMs) / PARTS_OF_A_WINDOW)));
}

/** Tells coverages apart. */
export function nameOf({ segments, fromMs }: Coverage): string {
  return `${fromMs} ${segments.map(({ id }) => id).join(' ')}`;
}

/** Whether the window holds all of what is covered. */
export function isInside({ segments, fromMs }: Coverage, window: TimeWindow): boolean {
  return fromMs >= window.fromMs && segments.every(({ maxTimestamp }) => maxTimestamp < window.toMs);
}

/** Whether whatever is `wanted` is covered. */
export function coversAll({ segments, fromMs }: Coverage, wanted: Coverage): boolean {
  const ids = new Set(segments.map(({ id }) => id));
  return fromMs <= wanted.fromMs && wanted.segments.every(({ id }) => ids.has(id));
}

/** Whether what is covered is all that `larger` covers of the same segments, so that it can be added to. */
export function isPartOf({ segments, fromMs }: Coverage, larger: Coverage): boolean {
  const ids = new Set(larger.segments.map(({ id }) => id));
  const latestMs = Math.max(fromMs, larger.fromMs);
  return segments.every(({ id, minTimestamp }) => ids.has(id) && (fromMs === larger.fromMs || minTimestamp >= latestMs));
}

/** The covered segments that have events before those that are covered. */
export function segmentsCut({ segments, fromMs }: Coverage): Segment[] {
  return segments.filter(({ minTimestamp }) => minTimestamp < fromMs);
}

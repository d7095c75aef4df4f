import { hash } from 'node:crypto';
import type { TimeWindow } from '../../../query/plan/search-plan.ts';
import type { CheckedSegment } from '../integrity/segment-checks.ts';
import type { SearchScope } from '../search/search-scope.ts';

/** Flushed events that are counted once for many searches: all events of some segments from a time on. */
export interface Coverage {
  readonly segments: readonly CheckedSegment[];
  /** Unix milliseconds. Earlier events of the segments are not covered. */
  readonly fromMs: number;
}

/** A moving window has at most a sixteenth of its length uncovered before the coverage moves on. */
const PARTS_OF_A_WINDOW = 16;

/**
 * The flushed events of a search that stay in its window for a while as the window moves on: those of the segments that end in the window.
 * Where the window cuts some of them, only the events behind the next full step of time, which is the same for many windows of that length.
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

/** Milliseconds, a power of two: a growing window keeps its step until it is twice as long. */
function stepOf({ fromMs, toMs }: TimeWindow): number {
  return 2 ** Math.max(0, Math.floor(Math.log2((toMs - fromMs) / PARTS_OF_A_WINDOW)));
}

/** A text that tells coverages apart, short however many segments they have. */
export function nameOf({ segments, fromMs }: Coverage): string {
  return hash('sha256', `${fromMs} ${segments.map(({ id }) => id).join(' ')}`);
}

/** Returns whether the window holds all covered events. */
export function isInside({ segments, fromMs }: Coverage, window: TimeWindow): boolean {
  return fromMs >= window.fromMs && segments.every(({ maxTimestamp }) => maxTimestamp < window.toMs);
}

/** Returns whether all of `wanted` is covered. */
export function coversAll({ segments, fromMs }: Coverage, wanted: Coverage): boolean {
  const ids = new Set(segments.map(({ id }) => id));
  return fromMs <= wanted.fromMs && wanted.segments.every(({ id }) => ids.has(id));
}

/** Returns whether these are all the events that `larger` covers of the same segments, so that `larger` can be made by adding segments. */
export function isPartOf({ segments, fromMs }: Coverage, larger: Coverage): boolean {
  const ids = new Set(larger.segments.map(({ id }) => id));
  const latestMs = Math.max(fromMs, larger.fromMs);
  return segments.every(({ id, minTimestamp }) => ids.has(id) && (fromMs === larger.fromMs || minTimestamp >= latestMs));
}

/** The segments that also have earlier events, which are not covered. */
export function segmentsCut({ segments, fromMs }: Coverage): CheckedSegment[] {
  return segments.filter(({ minTimestamp }) => minTimestamp < fromMs);
}

import type { Window } from '../api/explore.ts';

/** Widths of buckets that people read easily, in seconds. */
const WIDTHS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600];
const MOST_BUCKETS = 180;
const USUAL_BUCKETS = 120;

/** The buckets of a window: at most 180 of an even width, where there is one, and none of less than a millisecond. */
export function bucketsOf({ from, to }: Window): number {
  const width = WIDTHS_S.find((seconds) => (to - from) / (seconds * 1000) <= MOST_BUCKETS) ?? 3_600;
  const buckets = (to - from) / (width * 1000);
  return Number.isInteger(buckets) && buckets > 1 ? buckets : Math.min(USUAL_BUCKETS, to - from);
}

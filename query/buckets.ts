import type { TimeWindow } from './search-plan.ts';

/**
 * The sparkline bucket of a time in the window: `floor((t - from) * buckets / (to - from))`, 0 to `buckets - 1`.
 * Exact without BigInt: the product is at most 72 h and 2 min in ms times 500, 1.3e11, and the remainder is taken off before dividing.
 */
export function bucketOf(timestampMs: number, { fromMs, toMs }: TimeWindow, buckets: number): number {
  const scaled = (timestampMs - fromMs) * buckets;
  const width = toMs - fromMs;
  return (scaled - (scaled % width)) / width;
}

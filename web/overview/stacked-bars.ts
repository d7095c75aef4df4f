import type { HistogramInWindow, Window } from '../api/explore.ts';

/** A colour of the histogram with its counts. */
export interface Layer {
  /** Null: all values, or those that have no series of their own. */
  readonly value: string | null;
  readonly isOther: boolean;
  readonly total: number;
  readonly counts: readonly number[];
}

/** The layers of a histogram, the lowest first. */
export function layersOf({ series, other }: HistogramInWindow): readonly Layer[] {
  const named = series.map((one) => ({ ...one, isOther: false }));
  return other === null ? named : [...named, { ...other, value: null, isOther: true }];
}

/** For each layer, how high its bars reach: its own counts and those of the layers below it. */
export function heightsOf(layers: readonly Layer[]): readonly (readonly number[])[] {
  let below: readonly number[] = [];
  return layers.map(({ counts }) => {
    below = counts.map((count, bucket) => count + (below[bucket] ?? 0));
    return below;
  });
}

/** The events of each bucket, of all values together. */
export function totalsOf(histogram: HistogramInWindow): readonly number[] {
  return heightsOf(layersOf(histogram)).at(-1) ?? Array<number>(histogram.buckets).fill(0);
}

/** When a bucket begins, in Unix milliseconds; buckets of less than a millisecond begin in between. */
export function bucketStart({ from, to, buckets }: Omit<HistogramInWindow, 'series' | 'other'>, bucket: number): number {
  return from + ((to - from) * bucket) / buckets;
}

/**
 * The whole milliseconds of the buckets from `first` to before `end`, as requests have them. A time belongs to the bucket of its floored
 * quotient, so the first whole millisecond of a bucket is the ceiling of its start.
 */
export function stretchOf(histogram: Omit<HistogramInWindow, 'series' | 'other'>, first: number, end: number): Window {
  return { from: Math.ceil(bucketStart(histogram, first)), to: Math.ceil(bucketStart(histogram, end)) };
}

/** The bucket of a time; the nearest one for a time outside. */
export function bucketAt({ from, to, buckets }: Omit<HistogramInWindow, 'series' | 'other'>, time: number): number {
  return Math.min(buckets - 1, Math.max(0, Math.floor(((time - from) * buckets) / (to - from))));
}

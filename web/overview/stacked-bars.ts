import { bucketAt, bucketStart, type DividedWindow } from '../../query/buckets.ts';
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

/** The time from the begin of the bucket `first` to that of the bucket `end`, as far as it is in the window that is searched. */
export function stretchOf(divided: DividedWindow, window: Window, first: number, end: number): Window {
  return { from: Math.max(window.from, bucketStart(divided, first)), to: Math.min(window.to, bucketStart(divided, end)) };
}

/** The buckets that lie whole in the window that is searched: all from `first` on, before `end`. It may cut the first and the last. */
export function wholeBuckets(divided: DividedWindow, window: Window): { readonly first: number; readonly end: number } {
  return { first: divided.from < window.from ? 1 : 0, end: divided.buckets - (divided.to > window.to ? 1 : 0) };
}

/** The bucket of a time, which may lie between two milliseconds; the nearest one for a time outside. */
export function nearestBucket(divided: DividedWindow, time: number): number {
  return bucketAt(divided, Math.min(divided.to - 1, Math.max(divided.from, Math.floor(time))));
}

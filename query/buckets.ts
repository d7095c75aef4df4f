/**
 * A window of time that is divided into buckets of equal width, those of a sparkline or a histogram. `from` lies in the window, `to`, which
 * is later, does not; both are whole Unix milliseconds.
 */
export interface DividedWindow {
  readonly from: number;
  readonly to: number;
  /** At least one. */
  readonly buckets: number;
}

/** The number of the bucket, from 0, that a time of the window is in: `floor((timeMs - from) * buckets / (to - from))`, in integers. */
export function bucketAt({ from, to, buckets }: DividedWindow, timeMs: number): number {
  return Number((BigInt(timeMs - from) * BigInt(buckets)) / BigInt(to - from));
}

/**
 * When a bucket begins, and the one before it ends: the first millisecond that {@link bucketAt} puts into this bucket or a later one. The
 * bucket behind the last one begins at `to`. A bucket that no whole millisecond falls into begins with the next.
 */
export function bucketStart({ from, to, buckets }: DividedWindow, bucket: number): number {
  const count = BigInt(buckets);
  return from + Number((BigInt(bucket) * BigInt(to - from) + count - 1n) / count);
}

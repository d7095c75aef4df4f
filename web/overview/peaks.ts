/** A stretch of buckets with far more events than usual. */
export interface Peak {
  readonly first: number;
  /** Behind the last one. */
  readonly end: number;
  readonly events: number;
  /** The mean of its buckets, as a multiple of the usual number; null where usually nothing is. */
  readonly times: number | null;
  /** Events beyond the usual number. */
  readonly excess: number;
}

/** A bucket stands out from twice the usual number on, and by more than counts of that size vary by chance. */
const LEAST_TIMES = 2;
const DEVIATIONS = 5;

/**
 * The stretches that stand out, those with most events beyond the usual number first. Usual is the median of all buckets, which attacks do
 * not move as long as they take up less than half of the time.
 */
export function peaksIn(totals: readonly number[]): readonly Peak[] {
  const usual = medianOf(totals);
  const threshold = peakThreshold(totals);
  const peaks: Peak[] = [];
  for (let first = 0; first < totals.length; first += 1) {
    let [end, sum] = [first, 0];
    for (; (totals[end] ?? 0) > threshold; end += 1) sum += totals[end] ?? 0;
    const expected = usual * (end - first);
    if (end > first) peaks.push({ first, end, events: sum, times: usual < 1 ? null : sum / expected, excess: sum - expected });
    first = end;
  }
  return peaks.toSorted((a, b) => b.excess - a.excess);
}

/** A bucket with more events stands out. */
export function peakThreshold(totals: readonly number[]): number {
  const usual = medianOf(totals);
  return Math.max(usual * LEAST_TIMES, usual + DEVIATIONS * Math.sqrt(usual), DEVIATIONS);
}

function medianOf(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

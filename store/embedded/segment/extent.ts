/** When the first and the last event of a part happened, and the first and the last sequence in it; all inclusive. */
export interface Extent {
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
  readonly minSequence: bigint;
  readonly maxSequence: bigint;
}

/** The extent of all parts together, of which there is at least one. They can be too many to be the arguments of one `Math.min`. */
export function extentOf(parts: readonly Extent[]): Extent {
  let [minTimestamp, maxTimestamp] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [minSequence, maxSequence] = [parts[0]?.minSequence ?? 0n, parts[0]?.maxSequence ?? 0n];
  for (const part of parts) {
    minTimestamp = Math.min(minTimestamp, part.minTimestamp);
    maxTimestamp = Math.max(maxTimestamp, part.maxTimestamp);
    if (part.minSequence < minSequence) {
      minSequence = part.minSequence;
    }
    if (part.maxSequence > maxSequence) {
      maxSequence = part.maxSequence;
    }
  }
  return { minTimestamp, maxTimestamp, minSequence, maxSequence };
}

import type { Segment } from './segment.ts';

/** Segments in the order of their events' sequences, those together whose sequences overlap: what one seal or one merge wrote, mostly. */
export function sequenceRuns(segments: readonly Segment[]): Segment[][] {
  const runs: Segment[][] = [];
  let end = -1n;
  for (const segment of segments.toSorted((a, b) => Number(a.minSequence - b.minSequence))) {
    if (segment.minSequence > end) {
      runs.push([]);
    }
    runs.at(-1)?.push(segment);
    end = segment.maxSequence > end ? segment.maxSequence : end;
  }
  return runs;
}

import type { Segment } from './segment.ts';

/** Segments whose events' sequences overlap: what one flush or one merge wrote, mostly. */
export interface SequenceRun {
  readonly segments: readonly Segment[];
  readonly rows: number;
  /** About how many events it has of the zone with the most: those of the largest one in any of the segments. */
  readonly zoneRows: number;
}

/** The runs that segments make up, in the order of their sequences. */
export function sequenceRuns(segments: readonly Segment[]): SequenceRun[] {
  const runs: Segment[][] = [];
  let end = -1n;
  for (const segment of segments.toSorted((a, b) => Number(a.minSequence - b.minSequence))) {
    if (segment.minSequence > end) {
      runs.push([]);
    }
    runs.at(-1)?.push(segment);
    end = segment.maxSequence > end ? segment.maxSequence : end;
  }
  return runs.map((run) => ({ segments: run, rows: totalRows(run), zoneRows: Math.max(...run.map(largestZoneRows)) }));
}

export function totalRows(parts: Iterable<{ readonly rows: number }>): number {
  let sum = 0;
  for (const { rows } of parts) {
    sum += rows;
  }
  return sum;
}

/** Of segments, which never change and may have thousands of zones each. */
const LARGEST_ZONES = new WeakMap<Segment, number>();

function largestZoneRows(segment: Segment): number {
  let largest = LARGEST_ZONES.get(segment);
  if (largest === undefined) {
    largest = 0;
    for (const rows of segment.zoneRows.values()) {
      largest = Math.max(largest, rows);
    }
    LARGEST_ZONES.set(segment, largest);
  }
  return largest;
}

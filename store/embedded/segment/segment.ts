import type { TimeWindow } from '../../../query/search-plan.ts';
import type { Extent } from './extent.ts';

/** A published Parquet file: it never changes; it is replaced or dropped as a whole. */
export interface Segment extends Extent {
  readonly id: number;
  /** File name within the segments folder. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly zoneRows: ReadonlyMap<number, number>;
}

/** A segment that the catalog has not numbered yet. */
export type UnpublishedSegment = Omit<Segment, 'id'>;

export function overlaps(part: Pick<Extent, 'minTimestamp' | 'maxTimestamp'>, fromMs: number, toMs: number): boolean {
  return part.maxTimestamp >= fromMs && part.minTimestamp < toMs;
}

/** Whether all of its events lie in the half-open range. */
export function liesWithin(part: Pick<Extent, 'minTimestamp' | 'maxTimestamp'>, { fromMs, toMs }: TimeWindow): boolean {
  return part.minTimestamp >= fromMs && part.maxTimestamp < toMs;
}

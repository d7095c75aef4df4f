import { type FeedZones, zonesAmong } from '../../../query/plan/feed-zones.ts';
import type { TimeWindow } from '../../../query/plan/search-plan.ts';

/** The times and the sequences of the first and the last event of a part, all inclusive. */
export interface EventSpan {
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
  readonly minSequence: bigint;
  readonly maxSequence: bigint;
}

/** The extent of at least one part. The parts can be too many for the arguments of one `Math.min`. */
export function spanOf(parts: readonly EventSpan[]): EventSpan {
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

/** A published Parquet file with the fields of events. It never changes; it is replaced or dropped as a whole. */
export interface Segment extends EventSpan {
  readonly id: number;
  /** The file name within the segments folder. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly zoneRows: ReadonlyMap<number, number>;
  /** The checksums of its content, by `packBlocks`; absent in segments of earlier versions, until they are checked. */
  readonly blocks?: Uint8Array;
  /** Why its events cannot be read; absent where they can. */
  readonly damage?: string;
}

/** A segment whose events cannot be read. */
export interface DamagedSegment {
  readonly segment: Segment;
  readonly fault: string;
}

/** A segment that the catalog has not numbered yet. */
export type UnpublishedSegment = Omit<Segment, 'id'>;

export function overlaps(part: Pick<EventSpan, 'minTimestamp' | 'maxTimestamp'>, fromMs: number, toMs: number): boolean {
  return part.maxTimestamp >= fromMs && part.minTimestamp < toMs;
}

/** Whether all events of the part lie in the half-open range. */
export function liesWithin(part: Pick<EventSpan, 'minTimestamp' | 'maxTimestamp'>, { fromMs, toMs }: TimeWindow): boolean {
  return part.minTimestamp >= fromMs && part.maxTimestamp < toMs;
}

/** The number of events of the zones in a segment. */
export function rowsOfZones({ rows, zoneRows }: Pick<Segment, 'rows' | 'zoneRows'>, zones: FeedZones): number {
  if (zones === 'all') return rows;
  let sum = 0;
  for (const zone of zonesAmong(zones, zoneRows.keys())) sum += zoneRows.get(zone) ?? 0;
  return sum;
}

/** The number of events of each zone in all the parts. */
export function zoneRowsOf(parts: Iterable<readonly [zone: number, events: number]>): Map<number, number> {
  const rows = new Map<number, number>();
  for (const [zone, events] of parts) {
    rows.set(zone, (rows.get(zone) ?? 0) + events);
  }
  return rows;
}

import type { SegmentSlice } from '../../../sql/segment-statements.ts';
import { type Extent, extentOf } from './extent.ts';
import type { UnpublishedSegment } from './segment.ts';
import { zoneRowsOf } from './zone-rows.ts';

export const HOUR_MS = 3_600_000;

/** Hours that are long over, and ones that hold little, share a segment of this length: fewer, larger segments are faster to search. */
export const LONG_PARTITION_MS = 12 * HOUR_MS;

/** Below this many rows an hour on average, an hour does not get a segment of its own. */
const SMALL_HOUR_ROWS = 20_000;

/** A segment is sorted in memory when it is written, so its size is bounded. */
export const MAX_SEGMENT_ROWS = 500_000;

/** A segment to write: what to select, and what the catalog will say of it. */
export interface SegmentPlan {
  readonly slice: SegmentSlice;
  readonly content: Omit<UnpublishedSegment, 'file' | 'bytes'>;
}

/** The events of one zone within one time partition. */
export interface PartitionZone extends Extent {
  /** Number of the time partition since the epoch. */
  readonly partition: number;
  readonly zone: number;
  readonly events: number;
}

/** A row of `partitionZoneCountStatement`. */
export function partitionZone(row: readonly unknown[]): PartitionZone {
  const [partition, zone, events, minTimestamp, maxTimestamp, minSequence, maxSequence] = row;
  return {
    partition: Number(partition),
    zone: Number(zone),
    events: Number(events),
    minTimestamp: Number(minTimestamp),
    maxTimestamp: Number(maxTimestamp),
    minSequence: minSequence as bigint,
    maxSequence: maxSequence as bigint,
  };
}

/** Hourly segments where hours hold enough events, long ones where they do not. `counts` is by hour. */
export function planFlush(counts: readonly PartitionZone[]): SegmentPlan[] {
  const hours = new Set(counts.map(({ partition }) => partition)).size;
  const rows = counts.reduce((sum, { events }) => sum + events, 0);
  const hoursPerPartition = rows / Math.max(hours, 1) < SMALL_HOUR_ROWS ? LONG_PARTITION_MS / HOUR_MS : 1;
  const partitions = Map.groupBy(counts, ({ partition }) => Math.floor(partition / hoursPerPartition));
  return [...partitions].flatMap(([partition, partitionCounts]) => planPartition(partition, hoursPerPartition * HOUR_MS, partitionCounts));
}

/** The segments of one time partition: one, or several by zone where one would be too large. */
export function planPartition(partition: number, partitionMs: number, counts: readonly PartitionZone[]): SegmentPlan[] {
  return splitByZone(counts).map((part) => ({
    slice: {
      fromMs: partition * partitionMs,
      toMs: (partition + 1) * partitionMs,
      firstZone: part[0]?.zone ?? 0,
      lastZone: part.at(-1)?.zone ?? 0,
      zones: hasLargeZones(part) ? 'large' : 'small',
    },
    content: contentOf(part),
  }));
}

/** Runs of neighbouring zones that hold no more than a segment should; a zone is never split, however many events it has. */
function splitByZone(counts: readonly PartitionZone[]): PartitionZone[][] {
  const byZone = [...Map.groupBy(counts, ({ zone }) => zone)].sort(([a], [b]) => a - b);
  const parts: PartitionZone[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const [, zoneCounts] of byZone) {
    const zoneRows = zoneCounts.reduce((sum, { events }) => sum + events, 0);
    if (rows + zoneRows > MAX_SEGMENT_ROWS) {
      parts.push([]);
      rows = 0;
    }
    parts.at(-1)?.push(...zoneCounts);
    rows += zoneRows;
  }
  return parts;
}

/** Zones of which a segment holds this many events on average are large. */
const LARGE_ZONE_ROWS = 4_000;

function hasLargeZones(counts: readonly PartitionZone[]): boolean {
  const rows = counts.reduce((sum, { events }) => sum + events, 0);
  return rows / new Set(counts.map(({ zone }) => zone)).size >= LARGE_ZONE_ROWS;
}

function contentOf(counts: readonly PartitionZone[]): SegmentPlan['content'] {
  return {
    rows: counts.reduce((sum, { events }) => sum + events, 0),
    ...extentOf(counts),
    zoneRows: zoneRowsOf(counts.map(({ zone, events }) => [zone, events])),
  };
}

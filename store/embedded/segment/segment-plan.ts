import { HOUR_MS } from '../../../query/durations.ts';
import { LARGE_ZONE_ROWS, LONG_PARTITION_MS, MAX_SEGMENT_ROWS } from '../../../sql/segment-layout.ts';
import type { SegmentSlice } from '../../../sql/segment-statements.ts';
import { type EventSpan, spanOf, type UnpublishedSegment, zoneRowsOf } from './segment.ts';

/** An hour gets a segment of its own from this many rows an hour on average. */
const SMALL_HOUR_ROWS = 20_000;

/** A segment to write: the events to select, and its entry in the catalog. */
export interface SegmentPlan {
  readonly slice: SegmentSlice;
  readonly content: Omit<UnpublishedSegment, 'file' | 'bytes'>;
}

/** The events of one zone within one time partition. */
export interface PartitionZone extends EventSpan {
  /** The number of the time partition since the epoch. */
  readonly partition: number;
  readonly zone: number;
  readonly events: number;
}

/** Reads a row of `partitionZoneCountStatement`. */
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

/** Plans hourly segments where hours have enough events, and long ones elsewhere. `counts` is by hour. */
export function planFlush(counts: readonly PartitionZone[]): SegmentPlan[] {
  const hours = new Set(counts.map(({ partition }) => partition)).size;
  const rows = counts.reduce((sum, { events }) => sum + events, 0);
  const hoursPerPartition = rows / Math.max(hours, 1) < SMALL_HOUR_ROWS ? LONG_PARTITION_MS / HOUR_MS : 1;
  const partitions = Map.groupBy(counts, ({ partition }) => Math.floor(partition / hoursPerPartition));
  return [...partitions].flatMap(([partition, partitionCounts]) => planPartition(partition, hoursPerPartition * HOUR_MS, partitionCounts));
}

/** Plans the segments of one time partition: one, or several by zone where one would be too large. */
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

/** Splits zones into runs of neighbours with no more rows than a segment may have. A zone is never split, however many events it has. */
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

/** Whether the zones of a segment are large on average. */
function hasLargeZones(counts: readonly PartitionZone[]): boolean {
  const rows = counts.reduce((sum, { events }) => sum + events, 0);
  return rows / new Set(counts.map(({ zone }) => zone)).size >= LARGE_ZONE_ROWS;
}

function contentOf(counts: readonly PartitionZone[]): SegmentPlan['content'] {
  return {
    rows: counts.reduce((sum, { events }) => sum + events, 0),
    ...spanOf(counts),
    zoneRows: zoneRowsOf(counts.map(({ zone, events }) => [zone, events])),
  };
}

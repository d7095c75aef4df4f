import { segmentRows } from '../../../sql/events-relation.ts';
import type { StatementRunner } from '../duckdb/duckdb-engine.ts';
import { writeAsSegments } from '../flush/segment-rewrite.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import { type PartitionZone, planPartition } from '../segment/segment-plan.ts';

/** Segments that are to become as few as possible. */
export interface MergeOrder {
  readonly segmentsFolder: string;
  /** Begins the names of the new ones: no two that succeed have the same. */
  readonly stem: string;
  /** Where the segments are read, all of them within one time partition. */
  readonly paths: readonly string[];
  /** How many events they have. */
  readonly events: number;
  /** The time partition's number since the epoch. */
  readonly partition: number;
  readonly partitionMs: number;
}

/**
 * Writes the events of segments into new ones, which do not count yet. Their logs stay where they are. When this rejects, nothing of them
 * is left.
 */
export async function writeMerged(
  { segmentsFolder, stem, paths, partition, partitionMs }: MergeOrder,
  runner: StatementRunner,
): Promise<UnpublishedSegment[]> {
  const events = segmentRows(paths);
  const source = {
    stem,
    events,
    rows: () => () => ({ rows: events, inOrder: false }),
    partitionMs,
    plan: (counts: readonly PartitionZone[]) => planPartition(partition, partitionMs, counts),
  };
  return await writeAsSegments(source, runner, segmentsFolder);
}

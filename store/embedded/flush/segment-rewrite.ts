import type { SqlFragment } from '../../../sql/fragment.ts';
import {
  partitionZoneCountStatement,
  type SegmentRows,
  type SegmentSlice,
  writeSegmentStatement,
} from '../../../sql/segment-statements.ts';
import type { Catalog, CatalogProgress } from '../catalog/catalog.ts';
import { runStatement, type StatementRunner } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment, UnpublishedSegment } from '../segment/segment.ts';
import { type PartitionZone, partitionZone, type SegmentPlan } from '../segment/segment-plan.ts';
import { writeSegments } from '../segment/segment-writer.ts';
import type { GrowingSegment } from '../snapshot/growing-segment.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

/** At least the rows of a slice, before which there are `first` in other slices. */
export type RowsOfSlice = (slice: SegmentSlice, first: number) => SegmentRows;

/** Events that are to be written into segments. */
export interface SegmentSource {
  /** Begins the names of the new files: no two that succeed have the same. */
  readonly stem: string;
  readonly events: SqlFragment;
  /** The same as rows of segments, so many of which are to be written. */
  readonly rows: (segments: number) => RowsOfSlice | Promise<RowsOfSlice>;
  /** The length of the time partitions by which `plan` gets the events counted. */
  readonly partitionMs: number;
  readonly plan: (counts: readonly PartitionZone[]) => SegmentPlan[];
}

/** New segments, whose files are there, and the parts of the version set whose place they are to take. */
export interface Replacement {
  readonly written: readonly UnpublishedSegment[];
  readonly growingSegments: readonly GrowingSegment[];
  readonly segments: readonly Segment[];
  /** Of the events' logs, where they are not in published ones. */
  readonly blobFile?: BlobFile | undefined;
  /** How far the store has come once the new segments are published; unset when they hold nothing new. */
  readonly progress?: CatalogProgress;
}

export interface RewriteOptions {
  readonly aliases: PathAliases;
  readonly catalog: Catalog;
  readonly versions: VersionSet;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Writes the events into new segments, which do not count yet. When this rejects, none of their files is left. */
export async function writeAsSegments(
  { stem, events, rows, partitionMs, plan }: SegmentSource,
  runner: StatementRunner,
  segmentsFolder: string,
): Promise<UnpublishedSegment[]> {
  const counts = (await runStatement(runner, partitionZoneCountStatement(events, partitionMs))).map(partitionZone);
  const plans = plan(counts);
  const rowsOfSlice = await rows(plans.length);
  return await writeSegments(segmentsFolder, stem, plans, async ({ slice }, first, path) => {
    await runStatement(runner, writeSegmentStatement(rowsOfSlice(slice, first), slice, path));
  });
}

/**
 * One catalog transaction exchanges the old segments for the new ones and records the progress; only then do the new ones take the place of
 * all parts. When this throws, everything is as it was.
 */
export function publishSegments(
  { written, growingSegments, segments, blobFile, progress }: Replacement,
  { catalog, versions }: Pick<RewriteOptions, 'catalog' | 'versions'>,
): void {
  const added = blobFile && { addBlobFile: blobFile };
  const addSegments = catalog.apply({ add: written, remove: segments, ...added, ...(progress && { progress }) });
  versions.exchange({ addSegments, removeGrowing: growingSegments, removeSegments: segments, ...added });
}

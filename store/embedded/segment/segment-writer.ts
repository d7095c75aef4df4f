import {
  partitionZoneCountStatement,
  type SegmentRows,
  type SegmentSlice,
  writeSegmentStatement,
} from '../../../sql/segment-statements.ts';
import type { SqlFragment } from '../../../sql/statement.ts';
import { syncFolder } from '../../data-folder.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { removeFiles, writeWhole } from '../runtime/file-output.ts';
import type { UnpublishedSegment } from './segment.ts';
import { type PartitionZone, partitionZone, type SegmentPlan } from './segment-plan.ts';

/** Fewer events are written on the calling thread: another thread takes longer to start. */
export const FEW_EVENTS = 20_000;

/** Writes a planned segment to a new file. `first` counts the rows of the segments that were planned before it. */
export type WriteSegment = (plan: SegmentPlan, first: number, path: string) => Promise<void>;

/**
 * Writes the planned segments as Parquet files, which count once the catalog has them. `stem` begins their names; no two calls that succeed
 * have the same. When this rejects, no file is left.
 *
 * A segment has no checksum. A start compares its size with that in the catalog, and what DuckDB cannot decode ends a search in an error;
 * a value that was changed on the disk is answered as it is.
 */
export async function writeSegments(
  folder: string,
  stem: string,
  plans: readonly SegmentPlan[],
  write: WriteSegment,
): Promise<UnpublishedSegment[]> {
  const written: UnpublishedSegment[] = [];
  let first = 0;
  try {
    for (const [index, plan] of plans.entries()) {
      const file = `${stem}-${index}.parquet`;
      const before = first;
      const bytes = await writeWhole(folder, file, (path) => write(plan, before, path));
      written.push({ ...plan.content, file, bytes });
      first += plan.content.rows;
    }
  } catch (error) {
    await removeFiles(folder, written);
    throw error;
  }
  await syncFolder(folder);
  return written;
}

/** At least the rows of a slice. `first` counts the rows of the slices before it. */
export type RowsOfSlice = (slice: SegmentSlice, first: number) => SegmentRows;

/** Events that DuckDB writes into segments. */
export interface SegmentSource {
  /** Begins the names of the new files. No two sources that succeed have the same. */
  readonly stem: string;
  readonly events: SqlFragment;
  /** The events as rows of `segments` segments. */
  readonly rows: (segments: number) => RowsOfSlice | Promise<RowsOfSlice>;
  /** The length of the time partitions whose events `plan` gets counted. */
  readonly partitionMs: number;
  readonly plan: (counts: readonly PartitionZone[]) => SegmentPlan[];
}

/** Writes the events, in SQL, into segments that are not published yet. When this rejects, no file is left. */
export async function writeAsSegments(
  { stem, events, rows, partitionMs, plan }: SegmentSource,
  runner: StatementRunner,
  segmentsFolder: string,
): Promise<UnpublishedSegment[]> {
  const counts = (await runner.run(partitionZoneCountStatement(events, partitionMs))).map(partitionZone);
  const plans = plan(counts);
  const rowsOfSlice = await rows(plans.length);
  return await writeSegments(segmentsFolder, stem, plans, async ({ slice }, first, path) => {
    await runner.run(writeSegmentStatement(rowsOfSlice(slice, first), slice, path));
  });
}

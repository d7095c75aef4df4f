import { type SegmentRows, type SegmentSlice, writeSegmentStatement } from '../sql/segment-statements.ts';
import { syncFolder } from './data-folder.ts';
import { runStatement, type StatementRunner } from './duckdb-engine.ts';
import { removeFiles, writeWhole } from './published-file.ts';
import type { UnpublishedSegment } from './segment.ts';
import type { SegmentPlan } from './segment-plan.ts';

/** At least the rows of a slice, before which there are `first` in other slices. */
export type RowsOfSlice = (slice: SegmentSlice, first: number) => SegmentRows;

/**
 * Writes the planned slices of `rows` as Parquet files. None of them counts before the catalog has it. `stem` makes the names; it must never
 * come twice.
 */
export async function writeSegments(
  runner: StatementRunner,
  folder: string,
  stem: string,
  plans: readonly SegmentPlan[],
  rows: RowsOfSlice,
): Promise<UnpublishedSegment[]> {
  const written: UnpublishedSegment[] = [];
  let first = 0;
  try {
    for (const [index, plan] of plans.entries()) {
      const file = `${stem}-${index}.parquet`;
      const sliceRows = rows(plan.slice, first);
      const bytes = await writeWhole(folder, file, (path) => runStatement(runner, writeSegmentStatement(sliceRows, plan.slice, path)));
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

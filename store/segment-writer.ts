import type { DuckDBConnection } from '@duckdb/node-api';
import { type SegmentRows, writeSegmentStatement } from '../sql/segment-statements.ts';
import { syncFolder } from './data-folder.ts';
import { runStatement } from './duckdb-engine.ts';
import { removeFiles, writeWhole } from './published-file.ts';
import type { UnpublishedSegment } from './segment.ts';
import type { SegmentPlan } from './segment-plan.ts';

/**
 * Writes the planned slices of `rows` as Parquet files. None of them counts before the catalog has it. `stem` makes the names; it must never
 * come twice.
 */
export async function writeSegments(
  connection: DuckDBConnection,
  folder: string,
  stem: string,
  plans: readonly SegmentPlan[],
  rows: SegmentRows,
): Promise<UnpublishedSegment[]> {
  const written: UnpublishedSegment[] = [];
  try {
    for (const [index, plan] of plans.entries()) {
      const file = `${stem}-${index}.parquet`;
      const bytes = await writeWhole(folder, file, (path) => runStatement(connection, writeSegmentStatement(rows, plan.slice, path)));
      written.push({ ...plan.content, file, bytes });
    }
  } catch (error) {
    await removeFiles(folder, written);
    throw error;
  }
  await syncFolder(folder);
  return written;
}

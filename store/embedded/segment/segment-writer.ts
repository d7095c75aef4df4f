import { syncFolder } from '../../data-folder.ts';
import { removeFiles, writeWhole } from '../runtime/published-file.ts';
import type { UnpublishedSegment } from './segment.ts';
import type { SegmentPlan } from './segment-plan.ts';

/** Writes a planned segment to a new file. Before its rows there are `first` in segments that were planned before it. */
export type WriteSegment = (plan: SegmentPlan, first: number, path: string) => Promise<void>;

/**
 * Has the planned segments written as Parquet files. None of them counts before the catalog has it. `stem` makes the names; it must never
 * come twice. When this rejects, nothing of them is left.
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

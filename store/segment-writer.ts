import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { SqlFragment } from '../sql/fragment.ts';
import { writeSegmentStatement } from '../sql/storage-statements.ts';
import { syncFolder } from './data-folder.ts';
import { runStatement } from './duckdb-engine.ts';
import type { UnpublishedSegment } from './segment.ts';
import type { SegmentPlan } from './segment-plan.ts';

/**
 * Writes the planned slices of `events` as Parquet files, each under a temporary name until it is whole and on disk. None of them counts
 * before the catalog has it. `stem` makes the names; it must never come twice.
 */
export async function writeSegments(
  connection: DuckDBConnection,
  folder: string,
  stem: string,
  plans: readonly SegmentPlan[],
  events: SqlFragment,
): Promise<UnpublishedSegment[]> {
  const written: UnpublishedSegment[] = [];
  for (const [index, plan] of plans.entries()) {
    const file = `${stem}-${index}.parquet`;
    const path = join(folder, file);
    const temporary = `${path}.tmp`;
    try {
      await runStatement(connection, writeSegmentStatement(events, plan.slice, temporary));
      const bytes = await syncFile(temporary);
      await rename(temporary, path);
      written.push({ ...plan.content, file, bytes });
    } catch (error) {
      await rm(temporary, { force: true });
      await removeSegmentFiles(folder, written);
      throw error;
    }
  }
  await syncFolder(folder);
  return written;
}

export async function removeSegmentFiles(folder: string, segments: readonly { readonly file: string }[]): Promise<void> {
  for (const { file } of segments) {
    await rm(join(folder, file), { force: true });
  }
}

/** Returns the size in bytes. */
async function syncFile(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

import { publishSegments, type RewriteOptions } from '../flush/segment-rewrite.ts';
import { removeFiles } from '../runtime/published-file.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import type { Merge } from './merge-choice.ts';
import type { MergeOrder } from './merged-segments.ts';

/** Writes the new segments of a merge. When it rejects, nothing of them is left. */
export type WriteMerge = (order: MergeOrder) => Promise<UnpublishedSegment[]>;

/** Merges segments into new ones, which then take their place. The logs stay where they are. When this rejects, everything is as it was. */
export async function runMerge({ partition, partitionMs, segments }: Merge, write: WriteMerge, options: RewriteOptions): Promise<void> {
  const { aliases, now } = options;
  const order: MergeOrder = {
    segmentsFolder: aliases.segmentsFolder,
    stem: `c${segments[0]?.id ?? 0}-${now().toString(36)}`,
    paths: segments.map(({ file }) => aliases.segmentAlias(file)),
    events: segments.reduce((sum, { rows }) => sum + rows, 0),
    partition,
    partitionMs,
  };
  const written = await aliases.withOriginalPaths(write(order));
  try {
    publishSegments({ written, growingSegments: [], segments }, options);
  } catch (error) {
    await removeFiles(aliases.segmentsFolder, written);
    throw error;
  }
}

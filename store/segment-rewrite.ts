import type { DuckDBConnection } from '@duckdb/node-api';
import type { SqlFragment } from '../sql/fragment.ts';
import { slabZoneCountStatement } from '../sql/segment-statements.ts';
import type { Bundle } from './bundle.ts';
import type { Catalog, CatalogProgress } from './catalog.ts';
import { runStatement } from './duckdb-engine.ts';
import type { HotPart } from './hot-part.ts';
import type { LiveSet } from './live-set.ts';
import { removeFiles } from './published-file.ts';
import type { Segment, UnpublishedSegment } from './segment.ts';
import { type SegmentPlan, type SlabZone, slabZone } from './segment-plan.ts';
import { type RowsOfSlice, writeSegments } from './segment-writer.ts';

/** Parts of the live set that are to become other segments. */
export interface Rewrite {
  /** Begins the names of the new files: no two rewrites that succeed have the same. */
  readonly stem: string;
  /** All events of the parts. */
  readonly events: SqlFragment;
  /** The same as rows of segments, so many of which are to be written. */
  readonly rows: (segments: number) => RowsOfSlice | Promise<RowsOfSlice>;
  readonly hotParts: readonly HotPart[];
  readonly segments: readonly Segment[];
  /** The length of the slabs by which `plan` gets the events counted. */
  readonly slabMs: number;
  readonly plan: (counts: readonly SlabZone[]) => SegmentPlan[];
  /** What is left to do between writing the segments and publishing them. Resolves with the bundle of the events' logs, where they are not in published ones. */
  readonly finish?: (written: readonly UnpublishedSegment[]) => Promise<Bundle | undefined>;
  /** How far the store has come once the new segments are published; unset when they hold nothing new. */
  readonly progress?: CatalogProgress;
}

export interface RewriteOptions {
  readonly connection: DuckDBConnection;
  readonly segmentsFolder: string;
  readonly catalog: Catalog;
  readonly live: LiveSet;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Writes the events of the parts into new segments. One catalog transaction exchanges the old segments for the new ones and records the progress;
 * only then do the new ones take the place of all parts. When this rejects, everything is as it was.
 */
export async function rewriteAsSegments(rewrite: Rewrite, { connection, segmentsFolder, catalog, live }: RewriteOptions): Promise<void> {
  const { stem, events, rows, hotParts, segments, slabMs, plan, finish, progress } = rewrite;
  const counts = (await runStatement(connection, slabZoneCountStatement(events, slabMs))).map(slabZone);
  const plans = plan(counts);
  const written = await writeSegments(connection, segmentsFolder, stem, plans, await rows(plans.length));
  try {
    const bundle = await finish?.(written);
    const change = { add: written, remove: segments, ...(bundle && { addBundle: bundle }), ...(progress && { progress }) };
    const addSegments = catalog.apply(change);
    live.exchange({ addSegments, removeHot: hotParts, removeSegments: segments, ...(bundle && { addBundle: bundle }) });
  } catch (error) {
    await removeFiles(segmentsFolder, written);
    throw error;
  }
}

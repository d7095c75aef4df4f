import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { eventsRelation, slabZoneCountStatement } from '../sql/storage-statements.ts';
import type { Catalog, CatalogProgress } from './catalog.ts';
import { runStatement } from './duckdb-engine.ts';
import type { HotTable } from './hot-table.ts';
import type { LiveSet } from './live-set.ts';
import type { Segment } from './segment.ts';
import { type SegmentPlan, type SlabZone, slabZone } from './segment-plan.ts';
import { removeSegmentFiles, writeSegments } from './segment-writer.ts';

/** Parts of the live set that are to become other segments. */
export interface Rewrite {
  /** Begins the names of the new files: no two rewrites that succeed have the same. */
  readonly name: string;
  readonly hotTables: readonly HotTable[];
  readonly segments: readonly Segment[];
  /** One more than the sequence of any event in them. */
  readonly endSequence: bigint;
  /** The length of the slabs by which `plan` gets the events counted. */
  readonly slabMs: number;
  readonly plan: (counts: readonly SlabZone[]) => SegmentPlan[];
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
export async function rewriteAsSegments(
  rewrite: Rewrite,
  { connection, segmentsFolder, catalog, live, now }: RewriteOptions,
): Promise<void> {
  const { name, hotTables, segments, endSequence, slabMs, plan, progress } = rewrite;
  const paths = segments.map(({ file }) => join(segmentsFolder, file));
  const events = eventsRelation(hotTables, paths, endSequence);
  const counts = (await runStatement(connection, slabZoneCountStatement(events, slabMs))).map(slabZone);
  const stem = `${name}-${now().toString(36)}`;
  const written = await writeSegments(connection, segmentsFolder, stem, plan(counts), events);
  try {
    const addSegments = catalog.apply({ add: written, remove: segments, ...(progress === undefined ? {} : { progress }) });
    live.exchange({ addSegments, removeHot: hotTables, removeSegments: segments });
  } catch (error) {
    await removeSegmentFiles(segmentsFolder, written);
    throw error;
  }
}

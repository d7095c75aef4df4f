import type { Catalog, CatalogProgress } from '../catalog/catalog.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment, UnpublishedSegment } from '../segment/segment.ts';
import type { GrowingSegment } from './growing-segment.ts';
import type { VersionSet } from './version-set.ts';

/** The parts of a store that a flush or a merge changes. */
export interface PublishOptions {
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly catalog: Catalog;
  readonly versions: VersionSet;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Segments whose files are written, and the parts of the version set that they replace. */
export interface Replacement {
  readonly written: readonly UnpublishedSegment[];
  readonly growingSegments: readonly GrowingSegment[];
  readonly segments: readonly Segment[];
  /** Has the logs of the events, where no published blob file has them. */
  readonly blobFile?: BlobFile | undefined;
  /** How far the store has come with the new segments; unset when they hold no new events. */
  readonly progress?: CatalogProgress;
}

/**
 * Replaces parts by new segments. One catalog transaction exchanges the segments and records the progress; the version set follows. When
 * this throws, nothing has changed, unless it is CommitInDoubtError: then the catalog may name the segments.
 */
export function publishSegments(
  { written, growingSegments, segments, blobFile, progress }: Replacement,
  { catalog, checks, versions }: Pick<PublishOptions, 'catalog' | 'checks' | 'versions'>,
): void {
  const added = blobFile && { addBlobFile: blobFile };
  const addSegments = catalog.apply({ add: written, remove: segments, ...added, ...(progress && { progress }) });
  checks.trust(addSegments);
  versions.exchange({ addSegments, removeGrowing: growingSegments, removeSegments: segments, ...added });
}

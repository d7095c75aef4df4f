import type { Catalog } from '../catalog/catalog.ts';
import type { ExpiredWatermarks } from '../catalog/expired-watermarks.ts';
import { isReferenced } from '../segment/blob-file.ts';
import type { Segment } from '../segment/segment.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

/** An event accepted at the very edge of the retention may still be on its way, and a search may reach 60 s further back. */
const GRACE_MS = 120_000;

export interface RetentionOptions {
  readonly catalog: Catalog;
  readonly versions: VersionSet;
  readonly expiredWatermarks: ExpiredWatermarks;
  /** The highest sequence that each zone has in the segments. */
  readonly lastSequences: (segments: readonly Segment[]) => Promise<ReadonlyMap<number, bigint>>;
  readonly retentionMs: number;
}

/**
 * Drops the segments whose newest event is past the retention, and the blob files that no other segment needs; returns how many segments.
 * Their files go once nobody reads them. No segment may be merged meanwhile.
 */
export async function dropExpiredSegments(options: RetentionOptions, nowMs: number): Promise<number> {
  const { catalog, versions, expiredWatermarks, lastSequences, retentionMs } = options;
  const oldest = nowMs - retentionMs - GRACE_MS;
  const expired = versions.segments.filter(({ maxTimestamp }) => maxTimestamp < oldest);
  if (expired.length > 0) {
    const dropped = await lastSequences(expired);
    const kept = versions.segments.filter((segment) => !expired.includes(segment));
    const removeBlobFiles = versions.blobFiles.filter((blobFile) => !isReferenced(blobFile, kept));
    const run = expiredWatermarks.runs + 1;
    const watermarks = [...dropped].map(([zoneId, sequence]) => ({ zoneId, run, sequence }));
    catalog.apply({ add: [], remove: expired, removeBlobFiles, watermarks });
    // At once: no reader may see that the events are gone and not be told.
    expiredWatermarks.add(watermarks);
    versions.exchange({ removeSegments: expired, removeBlobFiles });
  }
  return expired.length;
}

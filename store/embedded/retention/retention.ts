import { lastSequencesStatement } from '../../../sql/feed-statements.ts';
import type { StoreLogger } from '../../event-store.ts';
import { RETENTION_GRACE_MS, type RetentionHold, type SweepAskedBy } from '../../retention-hold.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ExpiredWatermarks } from '../catalog/expired-watermarks.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { isReferenced } from '../segment/blob-file.ts';
import type { Segment } from '../segment/segment.ts';
import type { GrowingSegment } from '../snapshot/growing-segment.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

export interface RetentionOptions {
  readonly catalog: Catalog;
  readonly versions: VersionSet;
  readonly expiredWatermarks: ExpiredWatermarks;
  /** The highest sequence that each zone has in the segments. */
  readonly lastSequences: (segments: readonly Segment[]) => Promise<ReadonlyMap<number, bigint>>;
  readonly retentionMs: number;
  readonly hold: RetentionHold;
}

/**
 * Drops the segments whose newest event is past the retention, and the blob files that no other segment needs; returns the number of
 * segments. Their files go with their last reader. A segment that is merged meanwhile expires with the merged one.
 */
export async function dropExpiredSegments(options: RetentionOptions, nowMs: number, askedBy: SweepAskedBy): Promise<number> {
  const { catalog, versions, expiredWatermarks, lastSequences, retentionMs, hold } = options;
  const oldest = nowMs - retentionMs - RETENTION_GRACE_MS;
  const isExpired = ({ maxTimestamp }: Segment) => maxTimestamp < oldest;
  for (;;) {
    const all = segmentsOf(versions);
    const expired = all.filter(isExpired);
    if (askedBy === 'clock' && hold.keeps(eventsIn(expired), eventsIn([...all, ...versions.growingSegments]))) {
      return 0;
    }
    if (expired.length === 0) {
      return 0;
    }
    const sequences = await lastSequences(expired);
    const live = new Set(segmentsOf(versions));
    if (!expired.every((segment) => live.has(segment))) {
      continue;
    }
    const gone = new Set(expired);
    const kept = [...live].filter((segment) => !gone.has(segment));
    const removeBlobFiles = versions.blobFiles.filter((blobFile) => !isReferenced(blobFile, kept));
    const sweep = expiredWatermarks.sweeps + 1;
    const watermarks = [...sequences].map(([zoneId, sequence]) => ({ zoneId, sweep, sequence }));
    catalog.epochs.begin();
    catalog.apply({ add: [], remove: expired, removeBlobFiles, watermarks });
    // Both happen in one turn of the event loop: no reader may see that the events are gone before it can learn that they expired.
    expiredWatermarks.add(watermarks);
    versions.exchange({ removeSegments: expired, removeBlobFiles });
    return expired.length;
  }
}

/** The segments that may expire: the damaged ones, too. */
function segmentsOf({ segments, damaged }: Pick<VersionSet, 'segments' | 'damaged'>): Segment[] {
  return [...segments, ...damaged.map(({ segment }) => segment)];
}

function eventsIn(parts: readonly (Pick<Segment, 'rows'> | Pick<GrowingSegment, 'events'>)[]): number {
  return parts.reduce((sum, part) => sum + ('rows' in part ? part.rows : part.events), 0);
}

export interface SegmentReading {
  readonly runner: StatementRunner;
  readonly aliases: PathAliases;
  readonly checks: Pick<SegmentChecks, 'check'>;
  readonly logger: StoreLogger;
}

/**
 * The highest sequence that each zone has in the segments, by zone. Where a segment cannot be read, its highest sequence stands for all of
 * its zones, so that a reader may be told of more expired events than it missed.
 */
export async function lastSequencesIn(segments: readonly Segment[], reading: SegmentReading): Promise<Map<number, bigint>> {
  const highest = new Map<number, bigint>();
  for (const segment of segments) {
    for (const [zone, sequence] of await lastSequences(segment, reading)) {
      if (sequence > (highest.get(zone) ?? 0n)) {
        highest.set(zone, sequence);
      }
    }
  }
  return highest;
}

async function lastSequences(
  segment: Segment,
  { runner, aliases, checks, logger }: SegmentReading,
): Promise<(readonly [zone: number, sequence: bigint])[]> {
  try {
    const [whole] = await checks.check([segment], 'all');
    if (whole !== undefined) {
      const rows = await runner.run(lastSequencesStatement(aliases.segmentAlias(whole)));
      return rows.map(([zone, sequence]) => [Number(zone), sequence as bigint]);
    }
  } catch (error) {
    logger.warn({ err: error, file: segment.file }, 'an expired segment cannot be read; it is dropped all the same');
  }
  return [...segment.zoneRows.keys()].map((zone) => [zone, segment.maxSequence]);
}

import { join } from 'node:path';
import type { StoreLogger } from '../../event-store.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { mayPass } from '../runtime/file-fault.ts';
import type { Segment } from '../segment/segment.ts';
import type { GrowingSegment } from './growing-segment.ts';
import type { VersionSet } from './version-set.ts';

export interface ContainmentOptions {
  readonly segmentsFolder: string;
  readonly catalog: Pick<Catalog, 'noteDamage'>;
  readonly versions: Pick<VersionSet, 'segments' | 'exchange'>;
  readonly logger: StoreLogger;
}

/**
 * Takes a segment out of use that is missing or not whole: searches go on without its events, and say so. Its file stays where it is until
 * it expires, and the next start that finds it whole uses it again. Where the catalog cannot be written, the next start finds the damage
 * anew.
 */
export function containDamage(segment: Segment, fault: string, { segmentsFolder, catalog, versions, logger }: ContainmentOptions): void {
  // The segment was merged, has expired, or is contained already.
  if (!versions.segments.includes(segment)) {
    return;
  }
  const details = { segment: join(segmentsFolder, segment.file), events: segment.rows, fault };
  logger.error(details, 'a segment is damaged or missing: its events are left out of answers, which say so; its file stays where it is');
  versions.exchange({ damageSegments: [{ segment, fault }] });
  try {
    catalog.noteDamage(segment, fault);
  } catch (error) {
    logger.error({ ...details, err: error }, 'the catalog could not note that a segment is damaged; the next start looks again');
  }
}

/** What is wrong with the file of a growing segment; undefined where nothing is, and for a table. */
export async function faultOfJournal(
  { source, content }: Pick<GrowingSegment, 'source' | 'content'>,
  checks: Pick<SegmentChecks, 'faultOf'>,
): Promise<string | undefined> {
  if (!('path' in source) || content === undefined) {
    return undefined;
  }
  const { bytes, crc32 } = content;
  return await checks.faultOf({ path: source.path, bytes, ranges: [{ from: 0, to: bytes, crc32 }] });
}

/** Whether one of the journals that are read as files is not as it was written. */
export async function isJournalDamaged(parts: readonly GrowingSegment[], checks: Pick<SegmentChecks, 'faultOf'>): Promise<boolean> {
  for (const part of parts) {
    const fault = await faultOfJournal(part, checks);
    if (fault !== undefined && !mayPass(fault)) {
      return true;
    }
  }
  return false;
}

import { onTestFinished } from 'vitest';
import { type CheckedSegment, SegmentChecks } from '../../../../store/embedded/integrity/segment-checks.ts';
import type { Segment } from '../../../../store/embedded/segment/segment.ts';
import { containDamage } from '../../../../store/embedded/snapshot/damage-containment.ts';
import type { VersionSet } from '../../../../store/embedded/snapshot/version-set.ts';
import { silentLogger } from '../../../../store/event-store.ts';

/** Checks of the segments of a folder. Damaged ones leave the version set, without a catalog. */
export function segmentChecks(segmentsFolder: string, versions: Pick<VersionSet, 'segments' | 'exchange'>): SegmentChecks {
  const containment = { segmentsFolder, versions, catalog: { noteDamage: () => undefined }, logger: silentLogger };
  const contain = (segment: Segment, fault: string) => containDamage(segment, fault, containment);
  const checks = new SegmentChecks({ segmentsFolder, contain, containJournals: () => Promise.resolve(false) });
  onTestFinished(() => checks.close());
  return checks;
}

/** Segments without files that count as checked. */
export function asChecked(segments: readonly Segment[]): CheckedSegment[] {
  return segments as CheckedSegment[];
}

import { join } from 'node:path';
import { sharedEventsStatement } from '../../../sql/repair-statements.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { overlaps, type UnpublishedSegment } from '../segment/segment.ts';
import type { SharedEvents } from './kept-segments.ts';

/** Finds the events that several segments hold. Only those are compared whose times and sequences overlap, also over others. */
export async function sharedEvents(
  segments: readonly UnpublishedSegment[],
  segmentsFolder: string,
  runner: StatementRunner,
): Promise<SharedEvents[]> {
  const shared: SharedEvents[] = [];
  for (const group of groupsOf(segments)) {
    const paths = group.map(({ file }) => join(segmentsFolder, file));
    for (const [files, events] of group.length > 1 ? await runner.run(sharedEventsStatement(paths)) : []) {
      const { items } = files as { readonly items: readonly bigint[] };
      shared.push({ files: items.map((index) => group[Number(index)]?.file ?? ''), events: Number(events) });
    }
  }
  return shared;
}

function groupsOf(segments: readonly UnpublishedSegment[]): UnpublishedSegment[][] {
  const groups: UnpublishedSegment[][] = [];
  for (const segment of segments) {
    const touched = groups.filter((group) => group.some((other) => mayShare(segment, other)));
    for (const group of touched) {
      groups.splice(groups.indexOf(group), 1);
    }
    groups.push([...touched.flat(), segment]);
  }
  return groups;
}

function mayShare(one: UnpublishedSegment, other: UnpublishedSegment): boolean {
  const inTime = overlaps(one, other.minTimestamp, other.maxTimestamp + 1);
  return inTime && one.minSequence <= other.maxSequence && one.maxSequence >= other.minSequence;
}

import { join } from 'node:path';
import { sharedEventsStatement } from '../../../sql/repair-statements.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { mergedAtMs } from '../segment/file-names.ts';
import { overlaps, type UnpublishedSegment } from '../segment/segment.ts';

/** A segment by the name of its file. */
export interface SegmentFile {
  readonly file: string;
  readonly rows: number;
}

/** Events that are in each of these files, and in no other one. */
export interface SharedEvents {
  readonly files: readonly string[];
  readonly events: number;
}

export interface ChosenSegments {
  /** The files all of whose events others hold. */
  readonly leftOut: ReadonlySet<string>;
  /** The files some of whose events others hold, too. */
  readonly doubled: ReadonlySet<string>;
}

/**
 * Chooses among files with common events: what merges have written comes first, the newest before the others, and then the larger file. One
 * that has nothing beside the events of those before it is left out.
 */
export function chooseSegments(files: readonly SegmentFile[], shared: readonly SharedEvents[]): ChosenSegments {
  const [kept, leftOut, doubled] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const inOrder = files.toSorted((a, b) => mergedAtMs(b.file) - mergedAtMs(a.file) || b.rows - a.rows || (a.file < b.file ? 1 : -1));
  for (const { file, rows } of inOrder) {
    const held = shared
      .filter((events) => events.files.includes(file) && events.files.some((other) => kept.has(other)))
      .reduce((sum, { events }) => sum + events, 0);
    if (held > 0 && held === rows) {
      leftOut.add(file);
      continue;
    }
    kept.add(file);
    if (held > 0) {
      doubled.add(file);
    }
  }
  return { leftOut, doubled };
}

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

import { mergeOf } from '../segment/file-names.ts';

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
  const mergedAtMs = ({ file }: SegmentFile): number => mergeOf(file)?.atMs ?? 0;
  const inOrder = files.toSorted((a, b) => mergedAtMs(b) - mergedAtMs(a) || b.rows - a.rows || (a.file < b.file ? 1 : -1));
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

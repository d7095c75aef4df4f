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
 * Chooses the files that hold each event once: of a merge its output where all of that is there, and otherwise its inputs. What crashes and
 * power losses leave can be chosen so that no event is double; what is double nevertheless is told.
 */
export function chooseSegments(files: readonly SegmentFile[], shared: readonly SharedEvents[]): ChosenSegments {
  const choice = new Choice(files, shared);
  for (const output of outputsOfMerges(files)) {
    choice.chooseMerged(output);
  }
  for (const { file } of [...files].sort((a, b) => a.rows - b.rows || (a.file < b.file ? -1 : 1))) {
    if (choice.isHeld(file, () => true)) {
      choice.leaveOut([file]);
    }
  }
  return { leftOut: choice.leftOut, doubled: choice.doubled() };
}

/** The outputs of each merge, the newest merge first. */
function outputsOfMerges(files: readonly SegmentFile[]): string[][] {
  const byStem = new Map<string, { readonly atMs: number; readonly files: string[] }>();
  for (const { file } of files) {
    const merge = mergeOf(file);
    if (merge !== undefined) {
      const { stem, atMs } = merge;
      byStem.set(stem, { atMs, files: [...(byStem.get(stem)?.files ?? []), file] });
    }
  }
  return [...byStem.values()].sort((a, b) => b.atMs - a.atMs).map((merged) => merged.files);
}

class Choice {
  readonly leftOut = new Set<string>();
  readonly #rows: ReadonlyMap<string, number>;
  readonly #shared: readonly SharedEvents[];
  readonly #sharedOf = new Map<string, SharedEvents[]>();

  constructor(files: readonly SegmentFile[], shared: readonly SharedEvents[]) {
    this.#rows = new Map(files.map(({ file, rows }) => [file, rows]));
    this.#shared = shared;
    for (const events of shared) {
      for (const file of events.files) {
        this.#sharedOf.set(file, [...(this.#sharedOf.get(file) ?? []), events]);
      }
    }
  }

  chooseMerged(output: readonly string[]): void {
    const members = output.filter((file) => !this.leftOut.has(file));
    const isMember = (file: string) => members.includes(file);
    const others = new Set(members.flatMap((file) => this.#kept(file)).filter((file) => !isMember(file)));
    if ([...others].every((file) => this.isHeld(file, isMember))) {
      this.leaveOut(others);
    } else if (members.every((file) => this.isHeld(file, (other) => !isMember(other)))) {
      this.leaveOut(members);
    }
  }

  leaveOut(files: Iterable<string>): void {
    for (const file of files) {
      this.leftOut.add(file);
    }
  }

  /** Whether each event of a file is in another one that is kept and may hold it. */
  isHeld(file: string, mayHold: (other: string) => boolean): boolean {
    const shared = this.#sharedOf.get(file) ?? [];
    const rows = shared.reduce((sum, { events }) => sum + events, 0);
    const areHeld = shared.every(({ files }) => files.some((other) => other !== file && !this.leftOut.has(other) && mayHold(other)));
    return rows === this.#rows.get(file) && areHeld && !this.leftOut.has(file);
  }

  /** The files of which others hold some events, too. The largest of the files that share events counts as their place, and is left out. */
  doubled(): Set<string> {
    const doubled = new Set<string>();
    for (const { files } of this.#shared) {
      const kept = files.filter((file) => !this.leftOut.has(file)).sort((a, b) => this.#rowsOf(b) - this.#rowsOf(a));
      for (const file of kept.slice(1)) {
        doubled.add(file);
      }
    }
    return doubled;
  }

  #kept(file: string): string[] {
    return (this.#sharedOf.get(file) ?? []).flatMap(({ files }) => files.filter((other) => !this.leftOut.has(other)));
  }

  #rowsOf(file: string): number {
    return this.#rows.get(file) ?? 0;
  }
}

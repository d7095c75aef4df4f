/**
 * The names of the files in the folders of journals and segments, written and read. Those of the databases and of the folders are in
 * `store/data-folder.ts`, because a program whose events are on ClickHouse has them, too.
 */

/** The two files of a journal: its events, and their logs. */
export type JournalFileKind = 'parquet' | 'logs';

export function journalFileName(journal: number, kind: JournalFileKind): string {
  return `${String(journal).padStart(12, '0')}.${kind}`;
}

/** The names of both files of a journal. */
export function journalFileNames(journal: number): string[] {
  return [journalFileName(journal, 'parquet'), journalFileName(journal, 'logs')];
}

/** The number of the journal that a file is of; undefined for other files. */
export function journalOfFile(name: string): number | undefined {
  const number = Number.parseInt(name, 10);
  return journalFileNames(number).includes(name) ? number : undefined;
}

/** Whether a file may be one of a journal, of any version. */
export function mayBeOfJournal(name: string): boolean {
  return /^\d/.test(name);
}

const RECYCLED = 'recycled-';

/** The name of a file of a flushed journal that is kept for a later one. */
export function recycledName(number: number): string {
  return `${RECYCLED}${number}`;
}

export function isRecycled(name: string): boolean {
  return name.startsWith(RECYCLED);
}

/** Begins the names of what a flush up to a journal writes. */
export function stemOfFlush(journal: number, nowMs: number): string {
  return `j${journal}-${nowMs.toString(36)}`;
}

/** Begins the names of what is written instead of segments, of which the first has this id. */
export function stemOfMerge(segment: number, nowMs: number): string {
  return `c${segment}-${nowMs.toString(36)}`;
}

/** The name of a segment, of which there are `index` before it with this stem. */
export function segmentFileName(stem: string, index: number): string {
  return `${stem}-${index}.parquet`;
}

export function blobFileName(stem: string): string {
  return `${stem}-log.parquet`;
}

export function isBlobFile(name: string): boolean {
  return name.endsWith('-log.parquet');
}

/** The name of a segment that stands for a journal whose events are lost. There is no such file. */
export function nameOfLost(journal: number): string {
  return `j${journal}-lost.parquet`;
}

/** The name that stands for a blob file of a flush up to this journal that is lost. There is no such file. */
export function nameOfLostBlobFile(journal: number): string {
  return blobFileName(`j${journal}-lost`);
}

/** The ending of files that are not whole yet. A start takes them for what a crash left. */
export const TEMPORARY = '.tmp';

/** A file of the segments folder under a name that the store gives. */
export interface WrittenFile {
  readonly name: string;
  /** `journal`: from a flush up to the journal of this number. `segment`: from a merge whose first segment has this id. */
  readonly from: 'journal' | 'segment';
  readonly number: number;
  /** Whether it has its temporary name. */
  readonly isTemporary: boolean;
}

/** Reads a name of a file of the segments folder; undefined for one that the store does not give. */
export function writtenFile(name: string): WrittenFile | undefined {
  const [, kind, number, temporary] = /^([jc])(\d+)-[\w-]+\.parquet(\.tmp)?$/.exec(name) ?? [];
  const from = kind === 'j' ? 'journal' : 'segment';
  return kind === undefined ? undefined : { name, from, number: Number(number), isTemporary: temporary !== undefined };
}

/** When the merge began that wrote a segment, in Unix milliseconds; 0 for other files. */
export function mergedAtMs(name: string): number {
  const [, time] = /^c\d+-(\w+)-\d+\.parquet$/.exec(name) ?? [];
  return time === undefined ? 0 : Number.parseInt(time, 36);
}

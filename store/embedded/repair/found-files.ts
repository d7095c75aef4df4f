import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sequencesInStatement } from '../../../sql/repair-statements.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import { firstAbove } from '../feed/lowest-events.ts';
import { endAfter, type Journal } from '../journal/journal.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { isBlobFile, type WrittenFile } from '../segment/file-names.ts';
import { spanOf, type UnpublishedSegment } from '../segment/segment.ts';
import { type FoundSegment, readBlobFile, readSegment, type UnreadableSegment, type WantedBlobFile } from './file-content.ts';
import type { DamagedJournal, HeldEvents } from './kept-journals.ts';
import { chooseSegments, sharedEvents } from './kept-segments.ts';

/** What an earlier catalog says of single files. Files are never changed, so that it is right also where the catalog is older. */
export interface KnownFiles {
  readonly segments: ReadonlyMap<string, UnpublishedSegment>;
  readonly blobFiles: ReadonlyMap<string, BlobFile>;
}

/** What the files of a folder hold. */
export interface FoundFiles {
  /** The segments of the new catalog. */
  readonly segments: readonly UnpublishedSegment[];
  /** Their blob files. */
  readonly blobFiles: readonly BlobFile[];
  readonly unreadable: readonly UnreadableSegment[];
  /** All that are whole. */
  readonly journals: readonly Journal[];
  readonly damagedJournals: readonly DamagedJournal[];
  readonly held: HeldEvents;
}

export interface FindOptions {
  readonly segmentsFolder: string;
  readonly journals: JournalFolder;
  readonly known: KnownFiles;
  readonly runner: StatementRunner;
  /** Is told how many bytes are read, and of how many. */
  readonly onRead: (doneBytes: number, totalBytes: number) => void;
}

/**
 * The damage of a segment that is whole, and of which other files hold some events, too. A start that finds such a segment takes over the
 * events that nothing else holds.
 */
const DOUBLED = 'others hold some of its events';

/** Reads all files. Nothing is changed. */
export async function findFiles(written: readonly WrittenFile[], options: FindOptions): Promise<FoundFiles> {
  const { segmentsFolder, journals: folder, known, runner, onRead } = options;
  const sizes = new Map(written.map(({ name }) => [name, statSync(join(segmentsFolder, name)).size]));
  const totalBytes = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  let doneBytes = 0;
  const countRead = (name: string): void => {
    doneBytes += sizes.get(name) ?? 0;
    onRead(doneBytes, totalBytes);
  };
  const [journals, damagedJournals] = await readJournals(folder);
  const [found, unreadable]: [FoundSegment[], UnreadableSegment[]] = [[], []];
  for (const { name } of written.filter((file) => !isBlobFile(file.name))) {
    const segment = await readSegment(segmentsFolder, name, known.segments.get(name), runner);
    if ('fault' in segment) {
      unreadable.push(segment);
    } else if (!areIn(journals, segment.segment)) {
      found.push(segment);
    }
    countRead(name);
  }
  const all = found.map(({ segment }) => segment);
  const { leftOut, doubled } = chooseSegments(all, await sharedEvents(all, segmentsFolder, runner));
  const kept = found.filter(({ segment }) => !leftOut.has(segment.file));
  const blobFiles: BlobFile[] = [];
  for (const wanted of wantedBlobFiles(kept, written, unreadable.length > 0)) {
    const { file = '' } = wanted;
    blobFiles.push(await readBlobFile(segmentsFolder, wanted, known.blobFiles.get(file)));
    countRead(file);
  }
  const segments = kept.map(({ segment }) => (doubled.has(segment.file) ? { ...segment, damage: DOUBLED } : segment));
  const held = await heldEvents({ segments, blobFiles, journals }, written, options);
  return { segments, blobFiles, unreadable, journals, damagedJournals, held };
}

async function readJournals(folder: JournalFolder): Promise<[whole: Journal[], damaged: DamagedJournal[]]> {
  const [whole, damaged]: [Journal[], DamagedJournal[]] = [[], []];
  for (const number of await folder.list()) {
    const journal = await folder.read(number);
    if (journal === undefined) {
      damaged.push({ number, events: await folder.countDamaged(number) });
    } else {
      whole.push(journal);
    }
  }
  return [whole, damaged];
}

/** Whether whole journals have every sequence of a segment: its events are in them, and are loaded again. */
function areIn(journals: readonly Journal[], { minSequence, maxSequence }: UnpublishedSegment): boolean {
  let next = minSequence;
  for (const journal of [...journals].sort((a, b) => a.number - b.number)) {
    const end = endAfter(journal).sequence;
    next = journal.firstSequence <= next && end > next ? end : next;
  }
  return next > maxSequence;
}

/** The blob files to keep. With `all` these include files that no segment points to: unreadable segments may, once they are put back. */
function wantedBlobFiles(segments: readonly FoundSegment[], written: readonly WrittenFile[], all: boolean): WantedBlobFile[] {
  const named = written.filter(({ name }) => isBlobFile(name)).sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
  // Of two flushes with one number the later one was published. Names of one length order by the time in them, for some decades.
  const byNumber = new Map(named.map(({ name, number }) => [number, name]));
  const wanted = new Map<number, WantedBlobFile>();
  for (const { logs, writtenAtMs } of segments) {
    for (const use of logs) {
      const number = use.blobFile;
      const before = wanted.get(number) ?? { uses: [], writtenAtMs };
      const uses = [...before.uses, use];
      wanted.set(number, { number, file: byNumber.get(number), uses, writtenAtMs: Math.min(before.writtenAtMs, writtenAtMs) });
    }
  }
  const others = [...byNumber].filter(([number]) => all && !wanted.has(number));
  return [...wanted.values(), ...others.map(([number, file]) => ({ number, file, uses: [], writtenAtMs: 0 }))];
}

async function heldEvents(
  { segments, blobFiles, journals }: Pick<FoundFiles, 'segments' | 'blobFiles' | 'journals'>,
  written: readonly WrittenFile[],
  { segmentsFolder, runner }: FindOptions,
): Promise<HeldEvents> {
  const kept = new Set(segments.map(({ file }) => file));
  const flushes = written.filter(({ name, from }) => from === 'journal' && kept.has(name)).map(({ number }) => number);
  const lastFlush = Math.max(0, ...flushes, ...blobFiles.map(({ number }) => number));
  const lastSequence = segments.length === 0 ? 0n : spanOf(segments).maxSequence;
  const inOrder = journals.filter(({ eventCount }) => eventCount > 0).sort((a, b) => (a.firstSequence < b.firstSequence ? -1 : 1));
  const [first, last] = [inOrder[0]?.firstSequence ?? 0n, inOrder.reduce((_, journal) => endAfter(journal).sequence - 1n, -1n)];
  const paths = segments
    .filter(({ minSequence, maxSequence, damage }) => damage === undefined && maxSequence >= first && minSequence <= last)
    .map(({ file }) => join(segmentsFolder, file));
  const [sequences = new Float64Array()] = paths.length === 0 ? [] : await runner.runForNumbers(sequencesInStatement(paths, first, last));
  const upTo = (sequence: bigint): number => firstAbove(sequences, Number(sequence));
  return { lastFlush, lastSequence, count: (from, to) => upTo(to) - upTo(from - 1n) };
}

import { existsSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { type DataFolder, syncFolder } from '../../data-folder.ts';
import { SQLITE_BESIDES } from '../../set-aside.ts';
import { StoreError } from '../../store-error.ts';
import { Catalog } from '../catalog/catalog.ts';
import { inspectCatalogDatabase, openCatalogDatabase } from '../catalog/catalog-database.ts';
import { lostJournal } from '../catalog/damaged-journals.ts';
import type { SegmentsFolder } from '../catalog/start-checks.ts';
import { startEngine } from '../duckdb/duckdb-engine.ts';
import { StatementRunner } from '../duckdb/statement-runner.ts';
import { END_OF_SEQUENCE } from '../journal/journal.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { syncFile } from '../runtime/file-output.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { WrittenFile } from '../segment/file-names.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import type { UnreadableSegment } from './file-content.ts';
import { type FoundFiles, findFiles, type KnownFiles } from './found-files.ts';
import { type JournalPlan, planJournals } from './kept-journals.ts';
import { LeftOut } from './left-out.ts';

export interface RebuildOptions {
  readonly memoryLimitMb: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called with how many bytes are read, and of how many. */
  readonly onRead?: (doneBytes: number, totalBytes: number) => void;
}

/** A file that is missing or not as it was written. */
export interface LostFile {
  readonly file: string;
  readonly fault: string;
  /** At most so many events are lost with it; undefined where nothing tells. */
  readonly events: number | undefined;
}

/** What a catalog was made anew of. */
export interface Rebuilt {
  /** The folder with the files that were left out and the old catalog; undefined where there were none. */
  readonly leftOutFolder: string | undefined;
  /** The number of files in it, without those of the catalog. */
  readonly leftOut: number;
  readonly lost: readonly LostFile[];
  /** Blob files that are missing or damaged: logs of their events are answered as `{}`. */
  readonly withoutLogs: readonly LostFile[];
  readonly segments: number;
  readonly blobFiles: number;
  readonly journals: number;
  /** The events in segments and journals; those of journals that segments hold, too, are told apart at the next start. */
  readonly events: number;
}

/**
 * Makes a catalog of what the files of a folder hold, and puts it in the place of the old one. Files whose events others hold are moved
 * into a folder of their own, because a start would remove them; with them goes the old catalog. A repair that is killed can be repeated.
 */
export async function rebuildCatalog(folder: DataFolder, segmentsFolder: SegmentsFolder, options: RebuildOptions): Promise<Rebuilt> {
  const known = readKnown(folder.catalogFile);
  const newFile = `${folder.catalogFile}.new`;
  const catalog = beginCatalog(newFile, segmentsFolder.written);
  const leftOut = new LeftOut(folder, options.now());
  let rebuilt: Omit<Rebuilt, 'leftOut' | 'leftOutFolder'>;
  const engine = await startEngine({ memoryLimitMb: options.memoryLimitMb, spillFolder: folder.spill });
  try {
    const runner = new StatementRunner(await engine.connect());
    const journals = new JournalFolder(folder.journal, catalog.emptyJournals);
    const found = await findFiles(segmentsFolder.written, {
      segmentsFolder: folder.segments,
      journals,
      known,
      runner,
      onRead: options.onRead ?? (() => undefined),
    });
    const plan = planJournals(found.journals, found.damagedJournals, found.held);
    await renumber(plan, journals);
    leaveOut(found, plan, segmentsFolder.written, leftOut);
    rebuilt = record(found, plan, catalog, options.now());
  } finally {
    engine.closeSync();
    catalog.close();
  }
  await syncFile(newFile);
  await leftOut.move();
  await rename(newFile, folder.catalogFile);
  await syncFolder(folder.root);
  return { ...rebuilt, leftOut: leftOut.size, leftOutFolder: leftOut.folder };
}

function readKnown(file: string): KnownFiles {
  const known = { segments: new Map<string, UnpublishedSegment>(), blobFiles: new Map<string, BlobFile>() };
  try {
    const opened = existsSync(file) ? inspectCatalogDatabase(file) : undefined;
    using catalog = opened && new Catalog(file, { opened });
    for (const segment of catalog?.segments() ?? []) known.segments.set(segment.file, segment);
    for (const blobFile of catalog?.blobFiles() ?? []) known.blobFiles.set(blobFile.file, blobFile);
  } catch {
    // The old catalog is damaged. Its rows that were read by then have checksums of their own, so they are right.
  }
  return known;
}

/** Removes what a repair that was killed has left. Throws `StoreError` (`folder_in_use`) where one is under way. */
function removeLeft(file: string): void {
  try {
    openCatalogDatabase(file).close();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === 'folder_in_use') {
      throw error;
    }
  }
  for (const suffix of ['', ...SQLITE_BESIDES]) {
    rmSync(`${file}${suffix}`, { force: true });
  }
}

/** Makes a catalog that is not synced until it is whole. Its lock keeps another repair away. */
function beginCatalog(file: string, written: readonly WrittenFile[]): Catalog {
  removeLeft(file);
  const opened = openCatalogDatabase(file);
  opened.exec('PRAGMA synchronous = OFF');
  // A start refuses a folder with files of merges whose numbers its catalog never gave, so the highest of them counts as given.
  const lastId = Math.max(0, ...written.filter(({ from }) => from === 'segment').map(({ number }) => number));
  opened.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('segments', ?)").run(lastId);
  return new Catalog(file, { opened });
}

/** Gives journals the numbers that they have from now on. Their old files are left out. */
async function renumber({ kept }: JournalPlan, journals: JournalFolder): Promise<void> {
  for (const { journal, number } of kept) {
    if (number !== journal.number) {
      await journals.copyAs(journal, number);
    }
  }
  await syncFolder(journals.path);
}

function leaveOut(
  { segments, blobFiles, damagedJournals }: FoundFiles,
  plan: JournalPlan,
  written: readonly WrittenFile[],
  leftOut: LeftOut,
): void {
  const renumbered = plan.kept.filter(({ journal, number }) => number !== journal.number).map(({ journal }) => journal.number);
  for (const number of [...renumbered, ...plan.leftOut, ...damagedJournals.map((journal) => journal.number)]) {
    leftOut.addJournal(number);
  }
  const kept = new Set([...segments, ...blobFiles].map(({ file }) => file));
  for (const { name } of written.filter((file) => !kept.has(file.name))) {
    leftOut.addSegment(name);
  }
}

function record(
  { segments, blobFiles, unreadable }: FoundFiles,
  plan: JournalPlan,
  catalog: Catalog,
  nowMs: number,
): Omit<Rebuilt, 'leftOut' | 'leftOutFolder'> {
  for (const addBlobFile of blobFiles) {
    catalog.apply({ add: [], remove: [], addBlobFile });
  }
  const lostJournals = plan.lost.map((journal) => lostJournal(journal, nowMs));
  const lost = [...unreadable.flatMap((file) => lostSegment(file, nowMs)), ...lostJournals];
  const { flushedJournal, nextSequence } = plan;
  const progress = { flushedJournal, nextSequence, sourceOffsets: [], expiredEvents: 0, duplicateEvents: 0 };
  catalog.apply({ add: [...segments, ...lost], remove: [], emptyJournals: plan.empty, progress });
  const damagedLogs = blobFiles.filter(({ damage }) => damage !== undefined);
  const inSegments = segments.reduce((sum, { rows }) => sum + rows, 0);
  return {
    lost: [
      ...unreadable.map(({ file, fault, rows }) => ({ file, fault, events: rows })),
      ...lostJournals.map(({ file, damage = '', rows }) => ({ file, fault: damage, events: rows })),
    ],
    withoutLogs: damagedLogs.map(({ file, damage = '', rows }) => ({ file, fault: damage, events: rows })),
    segments: segments.length,
    blobFiles: blobFiles.length,
    journals: plan.kept.length,
    events: plan.kept.reduce((sum, { journal }) => sum + journal.eventCount, inSegments),
  };
}

/** A row that says how many events are lost; none where nothing tells. Its file is used again once it is put back whole. */
function lostSegment({ file, fault, rows, bytes, known }: UnreadableSegment, nowMs: number): UnpublishedSegment[] {
  if (known !== undefined) {
    return [{ ...known, damage: fault }];
  }
  const extent = { minTimestamp: 0, maxTimestamp: nowMs, minSequence: 0n, maxSequence: END_OF_SEQUENCE - 1n };
  return rows === undefined || rows === 0 ? [] : [{ file, rows, bytes, ...extent, zoneRows: new Map(), damage: fault }];
}

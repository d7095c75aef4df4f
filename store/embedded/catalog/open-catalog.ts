import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../../data-folder.ts';
import type { StoreLogger } from '../../event-store.ts';
import { type CommitInDoubtError, isFull } from '../../sqlite-transaction.ts';
import { endAfter, type Journal } from '../journal/journal.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import type { Closing } from '../runtime/closing.ts';
import type { DamagedSegment } from '../segment/segment.ts';
import { Catalog } from './catalog.ts';
import { loseJournals, setTornAside } from './damaged-journals.ts';
import { checkFolder, doesHoldEvents, inspectFolder, readSegmentsFolder } from './start-checks.ts';

/** The durable state of a store: its catalog, and the journals of the events that the catalog does not have yet. */
export interface OpenCatalog {
  readonly catalog: Catalog;
  /** The segments whose file is missing or has another size. The catalog does not say so yet. */
  readonly missing: readonly DamagedSegment[];
  readonly journalFolder: JournalFolder;
  /** The journals that are in no published segment, in order. */
  readonly journals: readonly Journal[];
}

export interface OpenCatalogOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly logger: StoreLogger;
  readonly onInDoubt: (error: CommitInDoubtError) => void;
}

/**
 * Opens the catalog of a data folder, which locks the folder, and removes what a crash left. Nothing is removed or renamed before all files
 * were found to be what the catalog says. Throws `StoreError`: `folder_in_use`, `folder_unusable`, `corrupt`.
 */
export async function openCatalog(
  folder: DataFolder,
  { now, logger, onInDoubt }: OpenCatalogOptions,
  closing: Closing,
): Promise<OpenCatalog> {
  const segmentsFolder = await readSegmentsFolder(folder.segments);
  const holdsEvents = await doesHoldEvents(folder, segmentsFolder);
  const inspected = await inspectFolder(folder, segmentsFolder);
  const catalog = new Catalog(folder.catalogFile, { holdsEvents, onInDoubt, logger });
  closing.add('its catalog', () => catalog.close());
  const { missing, flushed, whole, damaged, torn, unnamed } = inspected ?? (await checkFolder(folder, catalog, segmentsFolder));
  const journalFolder = new JournalFolder(folder.journal, catalog.emptyJournals);
  const unflushed = [...whole, ...(await loseJournals(damaged, catalog, journalFolder, { now, logger }))];
  unflushed.sort((a, b) => a.number - b.number);
  // A crash may have come before the last journal was synced, whose events count as stored from now on.
  await journalFolder.sync(unflushed.at(-1));
  await emptyFolders([folder.links, folder.spill]);
  // A full disk keeps the commits in the write-ahead log of the catalog. Then nothing may be removed.
  if (unlessFull(() => catalog.checkpoint(), 'what a crash left is removed at a later start', logger)) {
    for (const { name } of [...unnamed, ...segmentsFolder.unfinished]) {
      await rm(join(folder.segments, name));
    }
    await journalFolder.removeLeft();
    await journalFolder.remove(flushed);
    unlessFull(() => catalog.endBackup(), 'the folder is still marked as that of a backup, until a later start', logger);
  }
  await setTornAside(torn, journalFolder, { now, logger });
  prepareEpoch(catalog, unflushed.at(-1));
  // On a full disk that is tried again before anything else changes.
  unlessFull(() => catalog.epochs.begin(), 'cursors of the feed are those of the start before until events can be stored', logger);
  return { catalog, missing, journalFolder, journals: unflushed };
}

/** Returns whether the disk had room for work that can wait; where it had not, the log says what follows. */
function unlessFull(work: () => void, follows: string, logger: StoreLogger): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!isFull(error)) {
      throw error;
    }
    logger.warn({ err: error }, `the disk is full: ${follows}`);
    return false;
  }
}

function prepareEpoch(catalog: Catalog, last: Journal | undefined): void {
  const firstSequence = last === undefined ? catalog.progress().nextSequence : endAfter(last).sequence;
  catalog.epochs.prepare({ firstSequence, sweeps: catalog.expiredWatermarks.list().at(-1)?.sweep ?? 0 });
}

async function emptyFolders(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    for (const name of await readdir(path)) {
      await rm(join(path, name), { recursive: true });
    }
  }
}

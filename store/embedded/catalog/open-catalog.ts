import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../../data-folder.ts';
import { StoreError } from '../../event-store.ts';
import type { Journal } from '../journal/journal.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import type { Closing } from '../runtime/closing.ts';
import { Catalog } from './catalog.ts';

/** The durable state of a store: its catalog, and the journals of the events that the catalog does not have yet. */
export interface OpenCatalog {
  readonly catalog: Catalog;
  readonly journalFolder: JournalFolder;
  /** The journals that are in no published segment, in order. */
  readonly journals: readonly Journal[];
}

/**
 * Opens the catalog of a data folder, which locks the folder, and removes what a crash left.
 * Throws `StoreError`: `folder_in_use`, `folder_unusable`, `corrupt`.
 */
export async function openCatalog(folder: DataFolder, closing: Closing): Promise<OpenCatalog> {
  const catalog = new Catalog(folder.catalogFile);
  closing.add('its catalog', () => catalog.close());
  await cleanFolder(folder, catalog);
  const journalFolder = new JournalFolder(folder.journal, catalog.emptyJournals);
  const journals = await unflushedJournals(journalFolder, catalog.progress().flushedJournal);
  return { catalog, journalFolder, journals };
}

/**
 * Removes unpublished segments and blob files, spilled data, and path aliases.
 * Throws `StoreError` (`corrupt`) where a published file is missing or has another size.
 */
async function cleanFolder(folder: DataFolder, catalog: Catalog): Promise<void> {
  const segments = catalog.segments().map((segment) => ({ ...segment, what: 'segment' }));
  const blobFiles = catalog.blobFiles().map((blobFile) => ({ ...blobFile, what: 'blob file' }));
  const published = new Map([...segments, ...blobFiles].map((part) => [part.file, part]));
  for (const name of await readdir(folder.segments)) {
    if (!published.has(name)) {
      await rm(join(folder.segments, name));
    }
  }
  for (const { what, file, bytes } of published.values()) {
    const named = `${what} ${JSON.stringify(join(folder.segments, file))}`;
    const found = await stat(join(folder.segments, file)).catch((error: NodeJS.ErrnoException) => {
      throw new StoreError('corrupt', `${named} is in the catalog and cannot be read: ${error.message}`, { cause: error });
    });
    if (found.size !== bytes) {
      throw new StoreError('corrupt', `${named} has ${found.size} bytes; the catalog says ${bytes}`);
    }
  }
  for (const path of [folder.links, folder.spill]) {
    for (const name of await readdir(path)) {
      await rm(join(path, name), { recursive: true });
    }
  }
}

/**
 * Removes the journals that are in published segments, and a torn last one, whose batch was not acknowledged; returns the others in order.
 * Throws `StoreError` (`corrupt`) where one in between is missing or torn.
 */
async function unflushedJournals(folder: JournalFolder, flushedJournal: number): Promise<Journal[]> {
  await folder.removeLeft();
  const numbers = await folder.list();
  const flushed = numbers.filter((number) => number <= flushedJournal);
  await folder.remove(flushed);
  const journals: Journal[] = [];
  for (const number of numbers.slice(flushed.length)) {
    const expected = flushedJournal + journals.length + 1;
    if (number !== expected) {
      throw new StoreError('corrupt', `${JSON.stringify(folder.path)}: journal ${expected} is missing, journal ${number} is there`);
    }
    const journal = await folder.read(number);
    if (journal !== undefined) {
      journals.push(journal);
    } else if (number === numbers.at(-1)) {
      await folder.remove([number]);
    } else {
      throw new StoreError('corrupt', `${JSON.stringify(folder.path)}: journal ${number} is torn, and later ones are there`);
    }
  }
  return journals;
}

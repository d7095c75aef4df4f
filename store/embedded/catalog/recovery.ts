import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../../data-folder.ts';
import { StoreError } from '../../store-error.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { Catalog } from './catalog.ts';

/**
 * Removes what a crash left: segments and blob files that were never published, whatever was spilled, and the aliases that files were read
 * by. Throws `corrupt` when a published one is missing.
 */
export async function cleanFolder(folder: DataFolder, catalog: Catalog): Promise<void> {
  const published = new Map([...catalog.segments(), ...catalog.blobFiles()].map((part) => [part.file, part]));
  for (const name of await readdir(folder.segments)) {
    if (!published.has(name)) {
      await rm(join(folder.segments, name));
    }
  }
  for (const { file, bytes } of published.values()) {
    const path = join(folder.segments, file);
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      throw new StoreError('corrupt', `segment ${JSON.stringify(path)} is in the catalog and cannot be read: ${error.message}`, {
        cause: error,
      });
    });
    if (found.size !== bytes) {
      throw new StoreError('corrupt', `segment ${JSON.stringify(path)} has ${found.size} bytes; the catalog says ${bytes}`);
    }
  }
  for (const passing of [folder.links, folder.spill]) {
    for (const name of await readdir(passing)) {
      await rm(join(passing, name), { recursive: true });
    }
  }
}

/**
 * The journals that are in no published segment, in order. Removes those that are, and a torn last one, whose batch nobody was told of.
 * Throws `StoreError` (`corrupt`) when one in between is missing or torn.
 */
export async function unflushedJournals(folder: JournalFolder, flushedJournal: number): Promise<Journal[]> {
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

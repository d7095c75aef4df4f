import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type DataFolder, dataFolderAt } from '../../data-folder.ts';
import type { CheckLine } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { hasCatalog } from '../catalog/catalog-database.ts';
import { doesHoldEvents, inspectCatalog, inspectFolder, readSegmentsFolder } from '../catalog/start-checks.ts';
import { faultOfFile, faultOfSqliteFile } from '../integrity/changed-bytes.ts';
import { EmptyJournalTable } from '../journal/empty-journal-table.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { type CheckedParts, checkFiles } from './file-checks.ts';

/**
 * Checks all files of a folder that no program has open; none can open it meanwhile. Nothing is changed. Where the catalog cannot be read,
 * segments and blob files are not, because it has their checksums. Throws `StoreError`: `folder_in_use`, `folder_unusable`.
 */
export async function* checkDataFolder(dataDir: string): AsyncGenerator<CheckLine> {
  const folder = dataFolderAt(dataDir);
  if (![folder.catalogFile, folder.journal, folder.segments].some((path) => existsSync(path))) {
    throw new StoreError('folder_unusable', `DATA_DIR: ${JSON.stringify(folder.root)} is no folder of a program that was ever started`);
  }
  const found = await catalogFault(folder);
  using inspected = inspectedIfWhole(folder, found);
  yield* checkFiles(await partsOf(folder, inspected.catalog, found));
}

/** Why a start would be refused, or the catalog cannot be used; undefined where neither is so. */
async function catalogFault(folder: DataFolder): Promise<string | undefined> {
  const segmentsFolder = await readSegmentsFolder(folder.segments);
  if (!hasCatalog(folder.catalogFile)) {
    const isLost = await doesHoldEvents(folder, segmentsFolder);
    return isLost ? 'it is missing or has no tables, and there are events' : undefined;
  }
  try {
    if ((await inspectFolder(folder, segmentsFolder, 'all')) === undefined) {
      const what = `${JSON.stringify(folder.root)} is of an earlier version; start the program once, which brings it up to date`;
      throw new StoreError('folder_unusable', `DATA_DIR: ${what}`);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'corrupt') {
      throw error;
    }
    return error.message.replace(/^DATA_DIR: |; no file was changed.*$/gs, '');
  }
}

/** Opens the catalog to look at it, also where it does not fit its files; nothing of it where a fault is known and it cannot be opened. */
function inspectedIfWhole({ catalogFile }: DataFolder, fault: string | undefined): ReturnType<typeof inspectCatalog> {
  const nothing = { catalog: undefined, [Symbol.dispose]: () => undefined };
  try {
    return hasCatalog(catalogFile) ? inspectCatalog(catalogFile) : nothing;
  } catch (error) {
    if (fault === undefined) {
      throw error;
    }
    return nothing;
  }
}

async function partsOf(folder: DataFolder, catalog: Catalog | undefined, fault: string | undefined): Promise<CheckedParts> {
  const journalFolder = new JournalFolder(folder.journal, catalog?.emptyJournals ?? new EmptyJournalTable(new DatabaseSync(':memory:')));
  const { flushedJournal } = catalog?.progress() ?? { flushedJournal: 0 };
  const numbers = await journalFolder.list();
  return {
    folder,
    segments: readRows(fault, () => catalog?.segments()),
    blobFiles: readRows(fault, () => catalog?.blobFiles()),
    journals: numbers.filter((number) => number > flushedJournal),
    journalFolder,
    faultOf: async (file) => faultOfFile(file),
    faultOfSqliteFile: async (path) => faultOfSqliteFile(path),
    catalogFault: () => fault,
    hold: () => new DisposableStack(),
    onDamage: async () => undefined,
  };
}

/** The rows of a table of the catalog; none where it is known to be damaged and they cannot be read. */
function readRows<T>(fault: string | undefined, read: () => readonly T[] | undefined): readonly T[] {
  try {
    return read() ?? [];
  } catch (error) {
    if (fault === undefined) {
      throw error;
    }
    return [];
  }
}

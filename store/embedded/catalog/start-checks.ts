import { existsSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataFolder, namesIn } from '../../data-folder.ts';
import { SQLITE_BESIDES } from '../../set-aside.ts';
import { StoreError } from '../../store-error.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { mayBeOfJournal, type WrittenFile, writtenFile } from '../segment/file-names.ts';
import type { DamagedSegment } from '../segment/segment.ts';
import { Catalog } from './catalog.ts';
import { CATALOG_REPAIR, hasCatalog, inspectCatalogDatabase, readingCatalog } from './catalog-database.ts';
import { type FoundJournals, readJournals } from './damaged-journals.ts';

/** Whether a folder holds events, so that its catalog is lost where there is none. */
export async function doesHoldEvents(folder: DataFolder, { written }: SegmentsFolder): Promise<boolean> {
  return written.length > 0 || (await namesIn(folder.journal)).some(mayBeOfJournal);
}

/** What a start has to do in a folder in which everything is as the catalog says. */
export interface CheckedFolder extends FoundJournals {
  readonly missing: readonly DamagedSegment[];
  readonly unnamed: readonly WrittenFile[];
}

/** Checks a folder without changing anything in it; undefined where its catalog is new or older. Throws as `openCatalog` does. */
export async function inspectFolder(
  folder: DataFolder,
  segmentsFolder: SegmentsFolder,
  acceptance: Acceptance = 'half',
): Promise<CheckedFolder | undefined> {
  if (!hasCatalog(folder.catalogFile)) {
    return undefined;
  }
  return await readingCatalog(folder.catalogFile, async () => {
    using inspected = inspectCatalog(folder.catalogFile);
    return inspected.catalog && (await checkFolder(folder, inspected.catalog, segmentsFolder, acceptance));
  });
}

/** A catalog that is looked at, until it is disposed. Nobody opens it to write meanwhile. */
export interface InspectedCatalog extends Disposable {
  /** Undefined where the catalog is new or older: it then has to be made or migrated first. */
  readonly catalog: Catalog | undefined;
}

/** Opens a catalog to look at it. Throws as `inspectCatalogDatabase` does. */
export function inspectCatalog(file: string): InspectedCatalog {
  // SQLite makes those that are missing, and does not remove them.
  const besides = SQLITE_BESIDES.map((suffix) => `${file}${suffix}`).filter((path) => !existsSync(path));
  const removeBesides = () => {
    for (const path of besides) {
      rmSync(path, { force: true });
    }
  };
  try {
    const opened = inspectCatalogDatabase(file);
    const catalog = opened && new Catalog(file, { opened });
    return {
      catalog,
      [Symbol.dispose]: () => {
        catalog?.close();
        removeBesides();
      },
    };
  } catch (error) {
    removeBesides();
    throw error;
  }
}

/** How much of what the catalog names may be missing. Where it is more than half, their disk may not be mounted. */
export type Acceptance = 'half' | 'all';

export async function checkFolder(
  folder: DataFolder,
  catalog: Catalog,
  segmentsFolder: SegmentsFolder,
  acceptance: Acceptance = 'half',
): Promise<CheckedFolder> {
  if (!catalog.isAsWritten()) {
    const what = `the catalog ${JSON.stringify(folder.catalogFile)} is damaged, or has pages of different times`;
    throw new StoreError('corrupt', `DATA_DIR: ${what}; ${CATALOG_REPAIR}`);
  }
  const { named, missing } = await findMissing(folder, catalog, acceptance);
  const journals = await readJournals(new JournalFolder(folder.journal, catalog.emptyJournals), catalog.progress());
  const unnamed = segmentsFolder.written.filter(({ name }) => !named.has(name));
  if (!catalog.isBackup()) {
    refuseOlderCatalog(folder, catalog, unnamed, journals);
    refuseReplaced(folder, unnamed, missing);
  }
  return { ...journals, missing, unnamed };
}

/** The files of the segments folder that the store wrote. Others are not its own, and stay. */
export interface SegmentsFolder {
  readonly written: readonly WrittenFile[];
  /** Those that a crash left under their temporary names. */
  readonly unfinished: readonly WrittenFile[];
}

export async function readSegmentsFolder(path: string): Promise<SegmentsFolder> {
  const written: WrittenFile[] = [];
  const unfinished: WrittenFile[] = [];
  for (const name of await namesIn(path)) {
    const file = writtenFile(name);
    if (file !== undefined) {
      (file.isTemporary ? unfinished : written).push(file);
    }
  }
  return { written, unfinished };
}

interface PublishedFiles {
  /** The names of all files in the catalog. */
  readonly named: ReadonlySet<string>;
  readonly missing: readonly DamagedSegment[];
}

/**
 * The segments whose files are missing or have another size. Logs of a missing blob file are found missing when they are read. Throws
 * `StoreError` (`corrupt`) where that is more than half of the files, as it is where their disk is not mounted.
 */
async function findMissing(folder: DataFolder, catalog: Catalog, acceptance: Acceptance): Promise<PublishedFiles> {
  const [segments, blobFiles] = [catalog.segments(), catalog.blobFiles()];
  const missing: DamagedSegment[] = [];
  const published = [...segments, ...blobFiles];
  const faults: string[] = [];
  for (const file of published.filter(({ damage }) => damage === undefined)) {
    const fault = await sizeFaultOf(join(folder.segments, file.file), file.bytes);
    if (fault !== undefined) {
      faults.push(fault);
      if ('zoneRows' in file) {
        missing.push({ segment: file, fault });
      }
    }
  }
  if (acceptance === 'half' && 2 * faults.length > published.length) {
    const what = `${faults.length} of ${published.length} files of the catalog are missing or changed: ${faults[0]}`;
    const advice = "put what is missing back, accept that it is lost by 'shieldlog check --repair', or choose another folder";
    throw new StoreError('corrupt', `DATA_DIR: ${what}; no file was changed; ${advice}`);
  }
  return { named: new Set(published.map(({ file }) => file)), missing };
}

/** Why a file is not there, or not as large as the catalog says; undefined where it is. */
export async function sizeFaultOf(path: string, bytes: number): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    return size === bytes ? undefined : `${JSON.stringify(path)} has ${size} bytes instead of ${bytes}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Throws `StoreError` (`corrupt`) where a file that the catalog does not name can hold events that nothing else holds: from a flush whose
 * journals are not all there, or from a merge of segments that the catalog never had. The catalog is then older than the file, or the last
 * journal damaged.
 */
function refuseOlderCatalog(
  folder: DataFolder,
  catalog: Catalog,
  unnamed: readonly WrittenFile[],
  { whole, damaged, torn }: FoundJournals,
): void {
  const lastJournal = catalog.progress().flushedJournal + whole.length + damaged.length;
  const lastSegment = catalog.lastSegmentId();
  const newer = unnamed.find(({ from, number }) => number > (from === 'journal' ? lastJournal : lastSegment));
  if (newer === undefined) {
    return;
  }
  const file = JSON.stringify(join(folder.segments, newer.name));
  if (newer.from === 'journal' && newer.number === torn) {
    const what = `journal ${torn} in ${JSON.stringify(folder.journal)} is not whole, and ${file} may hold its events`;
    const advice = "put the journal's files back, use what is there by 'shieldlog check --repair', or choose another folder";
    throw new StoreError('corrupt', `DATA_DIR: ${what}; no file was changed; ${advice}`);
  }
  const what = `${file} was written later than ${JSON.stringify(folder.catalogFile)}, and its events may be nowhere else`;
  throw new StoreError('corrupt', `DATA_DIR: ${what}; ${CATALOG_REPAIR}`);
}

/**
 * Throws `StoreError` (`corrupt`) where files are missing and others are there that the catalog does not name: a later catalog may have
 * had these in their place.
 */
function refuseReplaced(
  { segments, catalogFile }: DataFolder,
  [unnamed]: readonly WrittenFile[],
  [missing]: readonly DamagedSegment[],
): void {
  if (unnamed !== undefined && missing !== undefined) {
    const what = `${missing.fault}, and ${JSON.stringify(join(segments, unnamed.name))} may hold its events`;
    throw new StoreError(
      'corrupt',
      `DATA_DIR: the catalog ${JSON.stringify(catalogFile)} may be older than its files: ${what}; ${CATALOG_REPAIR}`,
    );
  }
}

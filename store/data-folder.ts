import { type Dirent, mkdirSync, readdirSync, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from './store-error.ts';

/** Where the store keeps what, under DATA_DIR. */
export interface DataFolder {
  readonly root: string;
  /** A Parquet file, and another with the logs, per batch that is not yet in a published segment. */
  readonly journal: string;
  /** Parquet files; those the catalog names are the truth, others are remains. */
  readonly segments: string;
  /** Links that DuckDB reads journals, segments and blob files by; emptied at start. */
  readonly links: string;
  /** Where DuckDB spills; emptied at start. */
  readonly spill: string;
  readonly catalogFile: string;
  readonly deadLetterFile: string;
}

/** Creates what is missing. Throws `StoreError` (`folder_unusable`) where that fails. */
export function prepareDataFolder(dataDir: string): DataFolder {
  const root = resolve(dataDir);
  const folder: DataFolder = {
    root,
    journal: join(root, 'journal'),
    segments: join(root, 'segments'),
    links: join(root, 'links'),
    spill: join(root, 'spill'),
    catalogFile: join(root, 'catalog.sqlite'),
    deadLetterFile: join(root, 'dead-letters.sqlite'),
  };
  try {
    refuseLinks(root);
    for (const path of [folder.journal, folder.segments, folder.links, folder.spill]) {
      makeFolder(path);
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError('folder_unusable', `DATA_DIR: ${JSON.stringify(root)} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return folder;
}

/**
 * Throws `StoreError` (`folder_unusable`) where an entry of DATA_DIR is a symbolic link: the program would write to its target and empty
 * it. A DATA_DIR that is a link itself, or that does not exist, is fine.
 */
export function refuseLinks(dataDir: string): void {
  const root = resolve(dataDir);
  for (const entry of entriesOf(root)) {
    if (entry.isSymbolicLink()) {
      const path = JSON.stringify(join(root, entry.name));
      throw new StoreError(
        'folder_unusable',
        `DATA_DIR: ${path} is a symbolic link, which is not allowed there; move its target to its place`,
      );
    }
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // A folder that is not there has no entries.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The permissions that others than the owner have on DATA_DIR, such as `755` as a whole; null where they have none. */
export function modeOpenToOthers(dataDir: string): string | null {
  const mode = statSync(dataDir).mode & 0o777;
  return process.platform === 'win32' || (mode & 0o077) === 0 ? null : mode.toString(8);
}

/**
 * Why a folder that the store has open is not usable where it was: it was removed, renamed, unmounted or replaced. Undefined while it is
 * there.
 */
export type FolderCheck = () => Promise<string | undefined>;

/** A folder that has not answered within this time hangs. */
export const ANSWER_MS = 2_000;

/**
 * Those who ask at the same time share one check, because each check on a disk that does not answer keeps a thread. Who has waited for
 * `limitMs` is told `silent`.
 */
export function sharedCheck(check: FolderCheck, silent: string, limitMs: number): FolderCheck {
  let underWay: Promise<string | undefined> | undefined;
  return async () => {
    underWay ??= check().finally(() => {
      underWay = undefined;
    });
    const waited = Promise.withResolvers<string>();
    const timer = setTimeout(() => waited.resolve(silent), limitMs);
    try {
      return await Promise.race([underWay, waited.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** To be called while the catalog is open, since no other file can have its number until it is closed. */
export function folderCheckOf({ root, journal, segments, catalogFile }: DataFolder): FolderCheck {
  const opened = statSync(catalogFile);
  const name = JSON.stringify(root);
  const check: FolderCheck = async () => {
    try {
      await stat(root);
    } catch (error) {
      return `the data folder ${name} is gone: ${(error as Error).message}`;
    }
    try {
      const [found] = await Promise.all([stat(catalogFile), stat(journal), stat(segments)]);
      if (found.dev === opened.dev && found.ino === opened.ino) return undefined;
      return `the data folder ${name} is not the one that was opened: its catalog.sqlite is another file`;
    } catch (error) {
      return `the data folder ${name} is not the one that was opened: ${(error as Error).message}`;
    }
  };
  return sharedCheck(check, `the data folder ${name} does not answer`, ANSWER_MS);
}

/** Makes a folder and those above it. Node's own recursive `mkdir` never ends where a file system refuses with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) {
      return;
    }
    if (code !== 'ENOENT' || dirname(path) === path) {
      throw error;
    }
    makeFolder(dirname(path));
    mkdirSync(path);
  }
}

/** Makes creations, renames and removals in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

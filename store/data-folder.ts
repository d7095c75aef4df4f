import { closeSync, type Dirent, fsyncSync, mkdirSync, openSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

export const JOURNAL_FOLDER = 'journal';
export const SEGMENTS_FOLDER = 'segments';
export const CATALOG_FILE = 'catalog.sqlite';
export const DEAD_LETTER_FILE = 'dead-letters.sqlite';

/** The paths under DATA_DIR. */
export interface DataFolder {
  readonly root: string;
  /** Holds a Parquet file and a file of logs for each batch that is not yet in a published segment. */
  readonly journal: string;
  /** Holds Parquet files: those that the catalog names, and remains of a crash. */
  readonly segments: string;
  /** Holds the hard links by which DuckDB reads files; emptied at start. */
  readonly links: string;
  /** Holds what DuckDB spills; emptied at start. */
  readonly spill: string;
  readonly catalogFile: string;
  readonly deadLetterFile: string;
}

/** The paths under a DATA_DIR, whether they are there or not. */
export function dataFolderAt(dataDir: string): DataFolder {
  const root = resolve(dataDir);
  return {
    root,
    journal: join(root, JOURNAL_FOLDER),
    segments: join(root, SEGMENTS_FOLDER),
    links: join(root, 'links'),
    spill: join(root, 'spill'),
    catalogFile: join(root, CATALOG_FILE),
    deadLetterFile: join(root, DEAD_LETTER_FILE),
  };
}

/** Creates the missing folders. Throws `StoreError` (`folder_unusable`) where that fails. */
export function prepareDataFolder(dataDir: string): DataFolder {
  const folder = dataFolderAt(dataDir);
  makeFolders(folder, [folder.journal, folder.segments, folder.links, folder.spill]);
  return folder;
}

/**
 * Makes DATA_DIR for a program whose events are elsewhere, and keeps others from it until it is disposed. It locks the file that an
 * embedded store locks, so that no two programs of either kind have a folder; that file stays as it is, or empty. The lock goes with the
 * process, however it ends. Throws `StoreError`: `folder_in_use`, `folder_unusable`.
 */
export function lockDataFolder(dataDir: string): Disposable {
  const folder = dataFolderAt(dataDir);
  makeFolders(folder, [folder.root]);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(folder.catalogFile);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return database;
  } catch (error) {
    database?.close();
    throw inUseError(folder.catalogFile, error) ?? unusable(folder, error);
  }
}

/** The error of an opening whose file another process has locked; undefined where it failed for another reason. */
export function inUseError(file: string, error: unknown): StoreError | undefined {
  if (!/locked|busy/i.test((error as Error).message)) {
    return undefined;
  }
  const what = `another shieldlog process is using ${JSON.stringify(file)}; stop it or choose another folder`;
  return new StoreError('folder_in_use', `DATA_DIR: ${what}`, { cause: error });
}

function makeFolders(folder: DataFolder, paths: readonly string[]): void {
  try {
    refuseLinks(folder.root);
    for (const path of paths) {
      makeFolder(path);
    }
    syncNames(folder.root);
  } catch (error) {
    throw error instanceof StoreError ? error : unusable(folder, error);
  }
}

function unusable({ root }: DataFolder, cause: unknown): StoreError {
  return new StoreError('folder_unusable', `DATA_DIR: ${JSON.stringify(root)} cannot be used: ${(cause as Error).message}`, { cause });
}

/**
 * Throws `StoreError` (`folder_unusable`) where an entry of DATA_DIR is a symbolic link: the program would write to its target and empty
 * it. A DATA_DIR that is a link itself, or that does not exist, is fine. `called` is what messages call it.
 */
export function refuseLinks(dataDir: string, called = 'DATA_DIR'): void {
  const root = resolve(dataDir);
  for (const entry of entriesOf(root)) {
    if (entry.isSymbolicLink()) {
      const path = JSON.stringify(join(root, entry.name));
      throw new StoreError(
        'folder_unusable',
        `${called}: ${path} is a symbolic link, which is not allowed there; move its target to its place`,
      );
    }
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return noneIfNotThere(error);
  }
}

/** The names in a folder; none where it is not there, as a backup has no folder of journals. */
export async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(noneIfNotThere);
}

function noneIfNotThere(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}

/** The mode of DATA_DIR in octal digits, such as `755`, where it gives others than the owner any permission; otherwise null. */
export function modeOpenToOthers(dataDir: string): string | null {
  const mode = statSync(dataDir).mode & 0o777;
  return process.platform === 'win32' || (mode & 0o077) === 0 ? null : mode.toString(8);
}

/**
 * Why others than the user of this process and root may write to a folder; null where they may not. They could put links in place of the
 * files in it.
 */
export function writersBeside(folder: string): string | null {
  const { mode, uid } = statSync(folder);
  const own = process.getuid?.();
  if (own === undefined) return null;
  if (uid !== own && uid !== 0) return `its owner is the user ${uid}`;
  return (mode & 0o022) === 0 ? null : `its mode is ${(mode & 0o777).toString(8)}`;
}

/** The types of network file systems as `statfs` of Linux tells them. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
]);

/** The name of the network file system that DATA_DIR is on; null where it is on none that is known. */
export function networkFileSystemOf(dataDir: string, typeOf: (path: string) => number = (path) => statfsSync(path).type): string | null {
  return NETWORK_FILE_SYSTEMS.get(typeOf(dataDir)) ?? null;
}

/**
 * Says why the open data folder is no longer usable at its path: it was removed, renamed, unmounted or replaced. Undefined while it is
 * usable.
 */
export type FolderCheck = () => Promise<string | undefined>;

/** What the events are kept in counts as hanging where it does not answer within this time. */
export const ANSWER_MS = 2_000;

/**
 * Calls at the same time share one asking, because each of a disk that does not answer keeps a thread, and calls within `keptMs` after its
 * end get the same answer. A call that has waited for `limitMs` resolves with `silent`.
 */
export function sharedAnswer<T>(ask: () => Promise<T>, silent: T, limitMs: number, keptMs = 0): () => Promise<T> {
  let last: Promise<T> | undefined;
  const forget = (): void => {
    last = undefined;
  };
  return async () => {
    last ??= ask().finally(() => {
      if (keptMs === 0) forget();
      else setTimeout(forget, keptMs).unref();
    });
    const waited = Promise.withResolvers<T>();
    const timer = setTimeout(() => waited.resolve(silent), limitMs);
    try {
      return await Promise.race([last, waited.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * Makes the check of an open data folder. It has to be called while the catalog is open: until that is closed, no other file can get its
 * inode number.
 */
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
      // The catalog is looked at first, so that the message names it where all files are gone.
      const found = await stat(catalogFile);
      await Promise.all([stat(journal), stat(segments)]);
      if (found.dev === opened.dev && found.ino === opened.ino) return undefined;
      return `the data folder ${name} is not the one that was opened: its ${CATALOG_FILE} is another file`;
    } catch (error) {
      return `the data folder ${name} is not the one that was opened: ${(error as Error).message}`;
    }
  };
  return sharedAnswer(check, `the data folder ${name} does not answer`, ANSWER_MS);
}

/** Makes a folder and its missing parents. Node's recursive `mkdir` never ends where a file system answers ENOENT, as /proc does. */
function makeFolder(path: string): void {
  const parent = dirname(path);
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && parent !== path) {
      makeFolder(parent);
      mkdirSync(path);
    } else if (code !== 'EEXIST' || !statSync(path).isDirectory()) {
      throw error;
    }
  }
}

/**
 * Syncs the names in DATA_DIR, its own and those of the folders above it on the same device, because an earlier process may have made any
 * of them and ended before it had done so.
 */
function syncNames(root: string): void {
  syncFolderNow(root);
  const { dev } = statSync(root);
  for (let path = dirname(root); statSync(path).dev === dev; path = dirname(path)) {
    try {
      syncFolderNow(path);
    } catch (error) {
      // Only somebody else has made a folder that this user may not read.
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    }
    if (path === dirname(path)) return;
  }
}

function syncFolderNow(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Makes creations, renames and removals in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CATALOG_FILE, refuseLinks, SEGMENTS_FOLDER, syncFolder, writersBeside } from '../../../store/data-folder.ts';
import { type BackupCatalog, readBackupCatalog } from '../../../store/embedded/backup/catalog-copy.ts';
import { sizeFaultOf } from '../../../store/embedded/catalog/start-checks.ts';
import { TEMPORARY, writtenFile } from '../../../store/embedded/segment/file-names.ts';
import { SQLITE_BESIDES } from '../../../store/set-aside.ts';
import { CommandFailed } from '../command.ts';

/** A file of a backup, as the program names it. */
export interface SentFile {
  readonly name: string;
  readonly bytes: number;
}

const DATABASE = /^[a-z-]+\.sqlite$/;
/** The endings of what a program that looked at a copy may have left beside it. SQLite would apply that to the next copy. */
const BESIDES = [...SQLITE_BESIDES, '-journal'];
/** The endings of what is in a folder of a backup, and in none that is whole. */
const NOT_IN_BACKUP = /(\.tmp)?(-wal|-shm|-journal)?$/;
const LEFT_UNFINISHED = /\.tmp(-wal|-shm|-journal)?$/;

/**
 * The folder of a backup, which is a data folder. At every moment it holds a whole backup, or none before the first: files come under
 * names that its catalog does not have, and what replaces another gets its name at the end, the catalog last. Only then are older files
 * removed.
 */
export class BackupFolder {
  readonly path: string;
  /** The catalog of the backup that is here; null before the first one. */
  readonly #before: BackupCatalog | null;
  /** The names of what was written and is not in its place yet. */
  readonly #waiting = new Set<string>();

  private constructor(path: string, before: BackupCatalog | null) {
    this.path = path;
    this.#before = before;
  }

  /** Makes the folder. Throws CommandFailed and StoreError where it is something else than that of a backup, or not safe to write to. */
  static async open(given: string): Promise<BackupFolder> {
    const path = resolve(given);
    return await naming(path, async () => {
      await makeFolder(path);
      refuseLinks(path, 'DIR');
      refuseOthers(path);
      const names = await readdir(path);
      const before = names.includes(CATALOG_FILE) ? catalogOf(path) : null;
      // A program that was started on a backup makes folders.
      const foreign = names.find((name) => name !== SEGMENTS_FOLDER && !DATABASE.test(name.replace(NOT_IN_BACKUP, '')));
      if (foreign !== undefined) {
        const what = `${path} holds ${JSON.stringify(foreign)}, which is in no backup`;
        throw new CommandFailed(`${what}; allowed: an empty folder, or that of a backup on which no program was started`);
      }
      await makeFolder(join(path, SEGMENTS_FOLDER));
      refuseOthers(join(path, SEGMENTS_FOLDER));
      return new BackupFolder(path, before);
    });
  }

  /** The published files that are there, whole. */
  async files(): Promise<SentFile[]> {
    return await naming(this.path, async () => {
      const names = (await readdir(join(this.path, SEGMENTS_FOLDER)))
        .map((file) => `${SEGMENTS_FOLDER}/${file}`)
        .filter((name) => isPublished(name));
      return await Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(this.path, name))).size })));
    });
  }

  /** Removes what a killed backup left unfinished. No other one may be under way. */
  async clear(): Promise<void> {
    await naming(this.path, async () => {
      for (const folder of [this.path, join(this.path, SEGMENTS_FOLDER)]) {
        for (const name of (await readdir(folder)).filter((one) => LEFT_UNFINISHED.test(one))) await rm(join(folder, name));
      }
    });
  }

  /** Refuses names that a program does not give. */
  refuseName(name: string): void {
    if (!isPublished(name) && !DATABASE.test(name)) throw new CommandFailed(`a file named ${JSON.stringify(name)} is in no backup`);
  }

  /** Refuses another store than that whose backup is here. */
  refuseStore(id: number): void {
    if (this.#before === null || this.#before.storeId === id) return;
    throw new CommandFailed(`${this.path} is the backup of another store; choose another folder`);
  }

  /** Writes and syncs a file. A published one that is new gets its name at once, so that the next backup has it where this one fails. */
  async write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const path = join(this.path, name);
    await naming(path, async () => {
      const file = await open(`${path}${TEMPORARY}`, 'wx', 0o600);
      try {
        for await (const chunk of chunks) await writeWhole(file, chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      if (isPublished(name) && !existsSync(path)) await rename(`${path}${TEMPORARY}`, path);
      else this.#waiting.add(name);
    });
  }

  /**
   * Puts what was written in its place, the catalog last, and removes published files that it does not name. Throws CommandFailed, before
   * anything is replaced or removed, where the catalog does not fit to the files or to the backup that is here.
   */
  async finish(): Promise<{ readonly events: number; readonly removed: number }> {
    const { files, events } = await this.#newCatalog();
    const segments = join(this.path, SEGMENTS_FOLDER);
    this.#waiting.delete(CATALOG_FILE);
    await naming(this.path, async () => {
      for (const name of this.#waiting) await this.#putInPlace(name);
      await syncFolder(segments);
      await syncFolder(this.path);
      await this.#putInPlace(CATALOG_FILE);
      await syncFolder(this.path);
    });
    const named = new Set(files.map(({ file }) => `${SEGMENTS_FOLDER}/${file}`));
    const older = (await this.files()).filter(({ name }) => !named.has(name));
    return await naming(segments, async () => {
      for (const { name } of older) await rm(join(this.path, name));
      await syncFolder(segments);
      return { events, removed: older.length };
    });
  }

  async #putInPlace(name: string): Promise<void> {
    const path = join(this.path, name);
    for (const suffix of BESIDES) await rm(`${path}${suffix}`, { force: true });
    await rename(`${path}${TEMPORARY}`, path);
  }

  /** The catalog that was written, once it fits to the files that it names and to the backup that is here. Throws CommandFailed. */
  async #newCatalog(): Promise<BackupCatalog> {
    const refused = (what: string, cause?: unknown) => new CommandFailed(`${what}; ${this.path} is as it was before`, { cause });
    if (!this.#waiting.has(CATALOG_FILE)) throw refused(`what was sent has no ${CATALOG_FILE}`);
    let catalog: BackupCatalog | undefined;
    try {
      catalog = readBackupCatalog(join(this.path, `${CATALOG_FILE}${TEMPORARY}`));
    } catch (error) {
      throw refused(`the ${CATALOG_FILE} that was sent cannot be read: ${(error as Error).message}`, error);
    }
    if (catalog === undefined) throw refused(`the ${CATALOG_FILE} that was sent is not that of a backup`);
    this.refuseStore(catalog.storeId);
    const [next, nextBefore] = [catalog.nextSequence, this.#before?.nextSequence ?? 0n];
    if (next < nextBefore) {
      const what = `the backup in ${this.path} goes up to sequence ${nextBefore - 1n}, and what was sent only to ${next - 1n}`;
      throw refused(`${what}, as that of a program with an older copy of its data; choose another folder`);
    }
    for (const { file, bytes } of catalog.files.filter(({ isDamaged }) => !isDamaged)) {
      const name = `${SEGMENTS_FOLDER}/${file}`;
      this.refuseName(name);
      const fault = await sizeFaultOf(join(this.path, this.#waiting.has(name) ? `${name}${TEMPORARY}` : name), bytes);
      if (fault !== undefined) throw refused(`the ${CATALOG_FILE} that was sent does not fit to its files: ${fault}`);
    }
    return catalog;
  }
}

/** Whether a file of a backup is one whose name is never used for another. */
function isPublished(name: string): boolean {
  return name.startsWith(`${SEGMENTS_FOLDER}/`) && writtenFile(name.slice(SEGMENTS_FOLDER.length + 1))?.isTemporary === false;
}

/** The catalog of the backup that is in a folder. Throws CommandFailed where it is not that of a backup. */
function catalogOf(path: string): BackupCatalog {
  const file = join(path, CATALOG_FILE);
  let catalog: BackupCatalog | undefined;
  try {
    catalog = readBackupCatalog(file);
  } catch (error) {
    const advice = 'choose another folder, or remove what is in it';
    throw new CommandFailed(`${file} cannot be read as the catalog of a backup: ${(error as Error).message}; ${advice}`, { cause: error });
  }
  if (catalog !== undefined) return catalog;
  const advice = 'a backup would replace its events; choose another folder';
  throw new CommandFailed(`${path} is the data folder of a program, or a backup that a program was started on; ${advice}`);
}

function refuseOthers(path: string): void {
  const why = writersBeside(path);
  if (why === null) return;
  throw new CommandFailed(`others may write to ${path}: ${why}; allowed: a folder of this user that nobody else may write to`);
}

/** Makes a folder with its parents, readable by its owner alone, and syncs its name. */
async function makeFolder(path: string): Promise<void> {
  const parent = dirname(path);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) await syncFolder(parent);
}

async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) written += (await file.write(chunk, written)).bytesWritten;
}

/** Makes errors of files name the place. */
async function naming<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).errno === undefined) throw error;
    throw new CommandFailed(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

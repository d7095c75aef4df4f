import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncFolder } from '../../../store/data-folder.ts';
import { isBackup } from '../../../store/embedded/catalog/row-checksums.ts';
import { CommandFailed } from '../command.ts';

/** A file of a backup, as the program names it. */
export interface SentFile {
  readonly name: string;
  readonly bytes: number;
}

const SEGMENTS = 'segments';
const CATALOG = 'catalog.sqlite';
const PUBLISHED = /^segments\/[jc]\d+-[\w-]+\.parquet$/;
const DATABASE = /^[a-z-]+\.sqlite$/;
/** The ending of files that are not whole yet. A start takes them for what a crash left. */
const UNFINISHED = '.tmp';
/** The endings of what a program that looked at a copy may have left beside it. SQLite would apply that to the next copy. */
const BESIDES = ['-wal', '-shm', '-journal'];

/**
 * The folder of a backup, which is a data folder. At every moment it holds a whole backup, or none before the first: files come under
 * names that its catalog does not have, and the databases get theirs at the end, the catalog last. Only then are older files removed.
 */
export class BackupFolder {
  readonly path: string;
  /** The number of the store that is backed up here; null before the first backup. */
  readonly storeId: number | null;

  private constructor(path: string, storeId: number | null) {
    this.path = path;
    this.storeId = storeId;
  }

  /** Makes the folder. Throws CommandFailed where it is something else than that of a backup. */
  static async open(given: string): Promise<BackupFolder> {
    const path = resolve(given);
    return await naming(path, async () => {
      await makeFolder(path);
      const names = await readdir(path);
      const storeId = names.includes(CATALOG) ? storeIdOf(path) : null;
      // A program that was started on a backup makes folders.
      const foreign = names.find((name) => name !== SEGMENTS && !DATABASE.test(name.replace(/\.tmp$|-wal$|-shm$/, '')));
      if (foreign !== undefined) {
        const what = `${path} holds ${JSON.stringify(foreign)}, which is in no backup`;
        throw new CommandFailed(`${what}; allowed: an empty folder, or that of a backup on which no program was started`);
      }
      await makeFolder(join(path, SEGMENTS));
      return new BackupFolder(path, storeId);
    });
  }

  /** The published files that are there, whole. */
  async files(): Promise<SentFile[]> {
    return await naming(this.path, async () => {
      const names = (await readdir(join(this.path, SEGMENTS))).map((file) => `${SEGMENTS}/${file}`).filter((name) => PUBLISHED.test(name));
      return await Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(this.path, name))).size })));
    });
  }

  /** Removes what a killed backup left unfinished. No other one may be under way. */
  async clear(): Promise<void> {
    await naming(this.path, async () => {
      for (const folder of [this.path, join(this.path, SEGMENTS)]) {
        for (const name of (await readdir(folder)).filter((one) => one.endsWith(UNFINISHED))) await rm(join(folder, name));
      }
    });
  }

  /** Refuses names that a program does not give. */
  refuseName(name: string): void {
    if (!PUBLISHED.test(name) && !DATABASE.test(name)) throw new CommandFailed(`a file named ${JSON.stringify(name)} is in no backup`);
  }

  /** Writes and syncs a file. A published one gets its name at once. */
  async write(name: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    const path = join(this.path, name);
    await naming(path, async () => {
      const file = await open(`${path}${UNFINISHED}`, 'w', 0o600);
      try {
        for await (const chunk of chunks) await writeWhole(file, chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      if (PUBLISHED.test(name)) await rename(`${path}${UNFINISHED}`, path);
    });
  }

  /** Puts the databases in place, the last one last, and removes published files of earlier backups; returns how many. */
  async finish(files: readonly SentFile[]): Promise<number> {
    const segments = join(this.path, SEGMENTS);
    for (const { name, bytes } of files.filter((file) => PUBLISHED.test(file.name))) await this.#refuseOther(name, bytes);
    await naming(this.path, async () => {
      await syncFolder(segments);
      for (const { name } of files.filter((file) => DATABASE.test(file.name))) {
        const path = join(this.path, name);
        for (const suffix of BESIDES) await rm(`${path}${suffix}`, { force: true });
        if (name === CATALOG) await syncFolder(this.path);
        await rename(`${path}${UNFINISHED}`, path);
      }
      await syncFolder(this.path);
    });
    const named = new Set(files.map(({ name }) => name));
    const older = (await this.files()).filter(({ name }) => !named.has(name));
    return await naming(segments, async () => {
      for (const { name } of older) await rm(join(this.path, name));
      await syncFolder(segments);
      return older.length;
    });
  }

  async #refuseOther(name: string, bytes: number): Promise<void> {
    const path = join(this.path, name);
    await naming(path, async () => {
      const { size } = await stat(path);
      if (size !== bytes) throw new CommandFailed(`${path} has ${size} bytes, not ${bytes}; begin the backup again`);
    });
  }
}

/** The number of the store whose backup is in a folder. Throws CommandFailed where its catalog is not that of a backup. */
function storeIdOf(path: string): number {
  const file = join(path, CATALOG);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (isBackup(database)) return Number(database.prepare("SELECT value FROM progress WHERE name = 'store_id'").get()?.['value']);
  } catch (error) {
    const advice = 'choose another folder, or remove what is in it';
    throw new CommandFailed(`${file} cannot be read as the catalog of a backup: ${(error as Error).message}; ${advice}`, { cause: error });
  } finally {
    database?.close();
  }
  const advice = 'a backup would replace its events; choose another folder';
  throw new CommandFailed(`${path} is the data folder of a program, or a backup that a program was started on; ${advice}`);
}

/** Makes a folder with its parents, readable by its owner alone, and syncs its name. */
async function makeFolder(path: string): Promise<void> {
  const parent = dirname(path);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) await syncFolder(parent);
}

async function writeWhole(file: FileHandle, chunk: Buffer): Promise<void> {
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

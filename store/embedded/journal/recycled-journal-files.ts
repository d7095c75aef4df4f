import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** As many bytes as are in journals while events come at full speed. */
const MAX_BYTES = 384 * 1024 * 1024;

/** Smaller ones are not worth it. */
const MIN_BYTES = 1024 * 1024;

/**
 * Keeps files of flushed journals so that later journals are written over them. The system keeps their pages in memory, and to copy into
 * those takes a fraction of the time that new pages and room on the disk take. A journal that is written into one says which bytes are its
 * own. On disk their names keep the old prefix, `spare-`.
 */
export class RecycledJournalFiles {
  readonly #folder: string;
  readonly #recycled: { readonly path: string; readonly bytes: number }[] = [];
  #bytes = 0;
  #kept = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes over a file, or removes it; one that is gone already is no error. */
  async keep(path: string): Promise<void> {
    try {
      const { size } = await stat(path);
      if (size < MIN_BYTES || this.#bytes + size > MAX_BYTES) {
        await unlink(path);
        return;
      }
      this.#kept += 1;
      const recycled = join(this.#folder, `spare-${this.#kept}`);
      await rename(path, recycled);
      this.#recycled.push({ path: recycled, bytes: size });
      this.#bytes += size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
    }
  }

  /** A recycled file, open, which has the path from now on; undefined where there is none. */
  async take(path: string): Promise<FileHandle | undefined> {
    const recycled = this.#recycled.pop();
    if (recycled === undefined) {
      return undefined;
    }
    this.#bytes -= recycled.bytes;
    await rename(recycled.path, path);
    return await open(path, 'r+');
  }

  /** Removes those that are kept now. */
  async removeKept(): Promise<void> {
    const recycled = this.#recycled.splice(0);
    this.#bytes = 0;
    for (const { path } of recycled) {
      await unlink(path);
    }
  }

  /** Removes those of earlier processes. To be called before any is kept. */
  async removeLeft(): Promise<void> {
    const names = await readdir(this.#folder);
    for (const name of names.filter((one) => one.startsWith('spare-'))) {
      await unlink(join(this.#folder, name));
    }
  }
}

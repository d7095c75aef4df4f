import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecycled, recycledName } from '../segment/file-names.ts';

/** The size of all journals while events come in at full speed. */
const MAX_BYTES = 384 * 1024 * 1024;

/** A smaller file is not worth keeping. */
const MIN_BYTES = 1024 * 1024;

/**
 * Keeps files of flushed journals so that later journals overwrite them. The system keeps the pages of such a file in memory, so writing
 * takes a fraction of the time that new pages and new blocks on the disk take. The trailer of a journal says which bytes are its own.
 */
export class RecycledJournalFiles {
  readonly #folder: string;
  readonly #recycled: { readonly path: string; readonly bytes: number }[] = [];
  #bytes = 0;
  #kept = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes over a file, or removes it. A file that is gone already is no error. */
  async keep(path: string): Promise<void> {
    try {
      const { size } = await stat(path);
      if (size < MIN_BYTES || this.#bytes + size > MAX_BYTES) {
        await unlink(path);
        return;
      }
      this.#kept += 1;
      const recycled = join(this.#folder, recycledName(this.#kept));
      await rename(path, recycled);
      this.#recycled.push({ path: recycled, bytes: size });
      this.#bytes += size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
    }
  }

  /** Opens a recycled file and renames it to `path`. Returns undefined where there is none. */
  async take(path: string): Promise<FileHandle | undefined> {
    const recycled = this.#recycled.pop();
    if (recycled === undefined) {
      return undefined;
    }
    this.#bytes -= recycled.bytes;
    await rename(recycled.path, path);
    return await open(path, 'r+');
  }

  /** Removes the files that are kept now. */
  async removeKept(): Promise<void> {
    const recycled = this.#recycled.splice(0);
    this.#bytes = 0;
    for (const { path } of recycled) {
      await unlink(path);
    }
  }

  /** Removes the files of earlier processes. It is called before any file is kept. */
  async removeLeft(): Promise<void> {
    const names = await readdir(this.#folder);
    for (const name of names.filter(isRecycled)) {
      await unlink(join(this.#folder, name));
    }
  }
}

import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** As many bytes as are in journals while events come at full speed. */
const MOST_BYTES = 384 * 1024 * 1024;

/** Smaller ones are not worth it. */
const LEAST_BYTES = 1024 * 1024;

/**
 * Files of a folder that nobody needs, to be written over. The system keeps their pages in memory: to copy into those takes a fraction of what it takes to find new ones, and room on the disk for
 * them. Whoever writes into one has to tell its own content from what may be left of the old.
 */
export class SpareFiles {
  readonly #folder: string;
  readonly #spare: { readonly path: string; readonly bytes: number }[] = [];
  #bytes = 0;
  #kept = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes over a file, or removes it; one that is gone already is no error. */
  async keep(path: string): Promise<void> {
    try {
      const { size } = await stat(path);
      if (size < LEAST_BYTES || this.#bytes + size > MOST_BYTES) {
        await unlink(path);
        return;
      }
      this.#kept += 1;
      const spare = join(this.#folder, `spare-${this.#kept}`);
      await rename(path, spare);
      this.#spare.push({ path: spare, bytes: size });
      this.#bytes += size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
    }
  }

  /** A spare file, open, which has the path from now on; undefined where there is none. */
  async take(path: string): Promise<FileHandle | undefined> {
    const spare = this.#spare.pop();
    if (spare === undefined) {
      return undefined;
    }
    this.#bytes -= spare.bytes;
    await rename(spare.path, path);
    return await open(path, 'r+');
  }

  /** Removes those that are kept now. */
  async removeKept(): Promise<void> {
    const spare = this.#spare.splice(0);
    this.#bytes = 0;
    for (const { path } of spare) {
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

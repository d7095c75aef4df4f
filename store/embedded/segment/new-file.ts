import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFile } from '../runtime/file-output.ts';
import { TEMPORARY } from './file-names.ts';

/**
 * A new file of the segments folder, which has a temporary name until it is kept. The caller syncs the folder. Where it is disposed before
 * it is kept, no file is left.
 */
export class NewFile implements AsyncDisposable {
  readonly #path: string;
  #isKept = false;

  constructor(folder: string, file: string) {
    this.#path = join(folder, file);
  }

  /** Where its content is to be written. */
  get temporaryPath(): string {
    return `${this.#path}${TEMPORARY}`;
  }

  /** Syncs what was written and gives the file its name. Resolves with its size in bytes. */
  async keep(): Promise<number> {
    const bytes = await syncFile(this.temporaryPath);
    await rename(this.temporaryPath, this.#path);
    this.#isKept = true;
    return bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isKept) {
      await rm(this.temporaryPath, { force: true });
    }
  }
}

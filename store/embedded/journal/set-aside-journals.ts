import { copyFile, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setAsideAt, setAsideName } from '../../set-aside.ts';

/** A program that is killed again and again leaves a torn journal each time. */
export const MAX_DAMAGED_BYTES = 1024 ** 3;

/**
 * The files of torn journals, under names that tell when they were set aside. Nothing reads them.
 * They stay for as long as events do, because damage may have torn a journal that was acknowledged, and people may want its bytes.
 * `store/embedded/catalog/damaged-journals.ts` says at a start which are set aside.
 */
export class SetAsideJournals {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(folder: string, maxBytes = MAX_DAMAGED_BYTES) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /**
   * Sets files aside, and returns their new names. Where there are too many bytes, the oldest files give way to them. A file that is not
   * there is no error. The caller syncs the folder.
   */
  async setAside(names: readonly string[], nowMs: number): Promise<string[]> {
    return await this.#keep(names, nowMs, rename);
  }

  /** Sets copies of files aside, as {@link setAside} does, where the files are still in use. */
  async copyAside(names: readonly string[], nowMs: number): Promise<string[]> {
    return await this.#keep(names, nowMs, copyFile);
  }

  async #keep(names: readonly string[], nowMs: number, put: (from: string, to: string) => Promise<void>): Promise<string[]> {
    const there = new Set(await readdir(this.#folder));
    const kept: string[] = [];
    for (const name of names.filter((one) => there.has(one))) {
      const damaged = setAsideName(name, nowMs);
      await put(join(this.#folder, name), join(this.#folder, damaged));
      kept.push(damaged);
    }
    await this.#makeRoom(kept);
    return kept;
  }

  /** Removes the files that were set aside before a time, in Unix milliseconds. */
  async removeBefore(beforeMs: number): Promise<void> {
    for (const { name, atMs } of await this.#list()) {
      if (atMs < beforeMs) {
        await unlink(join(this.#folder, name));
      }
    }
  }

  async #makeRoom(kept: readonly string[]): Promise<void> {
    let bytes = 0;
    for (const { name } of await this.#list()) {
      const path = join(this.#folder, name);
      bytes += (await stat(path)).size;
      if (bytes > this.#maxBytes && !kept.includes(name)) {
        await unlink(path);
      }
    }
  }

  /** The files that were set aside, the newest first. */
  async #list(): Promise<{ readonly name: string; readonly atMs: number }[]> {
    const names = await readdir(this.#folder);
    const files = names.flatMap((name) => {
      const atMs = setAsideAt(name);
      return atMs === undefined ? [] : [{ name, atMs }];
    });
    return files.sort((a, b) => b.atMs - a.atMs);
  }
}

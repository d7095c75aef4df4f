import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type DataFolder, syncFolder } from '../../data-folder.ts';
import { SQLITE_BESIDES } from '../../set-aside.ts';
import { journalFileNames } from '../segment/file-names.ts';

/**
 * The files that a repair leaves out. They are moved into a folder `left-out-<time>` of DATA_DIR, in the places that they had there,
 * because a start removes files that its catalog does not name. Nothing reads that folder.
 */
export class LeftOut {
  readonly #data: DataFolder;
  readonly #folder: string;
  readonly #paths = new Set<string>();
  #isMade = false;

  constructor(data: DataFolder, nowMs: number) {
    this.#data = data;
    this.#folder = join(data.root, `left-out-${new Date(nowMs).toISOString().replaceAll(':', '-')}`);
  }

  /** Undefined where nothing was moved. */
  get folder(): string | undefined {
    return this.#isMade ? this.#folder : undefined;
  }

  get size(): number {
    return this.#paths.size;
  }

  addSegment(file: string): void {
    this.#paths.add(join(this.#data.segments, file));
  }

  addJournal(number: number): void {
    for (const name of journalFileNames(number)) {
      const path = join(this.#data.journal, name);
      if (existsSync(path)) {
        this.#paths.add(path);
      }
    }
  }

  /** Moves the files, and then the old catalog with its write-ahead log, which belongs to no other. */
  async move(): Promise<void> {
    for (const path of this.#paths) {
      await this.#moveOne(path);
    }
    await this.#sync();
    for (const suffix of [...SQLITE_BESIDES, '']) {
      const path = `${this.#data.catalogFile}${suffix}`;
      if (existsSync(path)) {
        await this.#moveOne(path);
      }
    }
    await this.#sync();
  }

  async #moveOne(path: string): Promise<void> {
    const target = join(this.#folder, path.slice(this.#data.root.length + 1));
    await mkdir(dirname(target), { recursive: true });
    this.#isMade = true;
    await rename(path, target);
  }

  async #sync(): Promise<void> {
    if (this.#isMade) {
      const inside = [this.#data.segments, this.#data.journal].map((path) => join(this.#folder, basename(path))).filter(existsSync);
      for (const path of [...inside, this.#folder, this.#data.segments, this.#data.journal, this.#data.root]) {
        await syncFolder(path);
      }
    }
  }
}

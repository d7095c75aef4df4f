import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CATALOG_FILE, type DataFolder, DEAD_LETTER_FILE, SEGMENTS_FOLDER } from '../../data-folder.ts';
import { copyDatabase } from '../../database-copy.ts';
import type { BackupFile, StoreBackup } from '../../event-store.ts';
import { StoreError, storeClosed } from '../../store-error.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { DeadLetters } from '../catalog/dead-letter-thread.ts';
import type { Flusher } from '../flush/flusher.ts';
import type { AppendPipeline } from '../memtable/append-pipeline.ts';
import type { Loader } from '../memtable/memtable-loader.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { type CatalogCopy, copyCatalog } from './catalog-copy.ts';

export interface BackupsOptions {
  readonly folder: DataFolder;
  readonly catalog: Catalog;
  readonly versions: VersionSet;
  readonly pipeline: Pick<AppendPipeline, 'betweenLoads'>;
  readonly loader: Pick<Loader, 'close' | 'end'>;
  readonly flusher: Pick<Flusher, 'published'>;
  readonly deadLetters: Pick<DeadLetters, 'holdRemovals'>;
}

/** Begins backups of a store, one at a time. */
export class Backups {
  readonly #options: BackupsOptions;
  #isTaken = false;
  #beginning: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  /**
   * Flushes, and holds the files of one moment until the backup is disposed: every event that was acknowledged before the call is in them.
   * Intake, merges and retention go on. Throws `StoreError`: `backup_taken` where another backup is under way, `backup_failed` where
   * events cannot be flushed, or a file cannot be copied.
   */
  async begin(earlier: readonly string[] = []): Promise<StoreBackup> {
    if (this.#isClosed) {
      throw storeClosed();
    }
    if (this.#isTaken) {
      throw new StoreError('backup_taken', 'another backup is under way; begin this one when it has ended');
    }
    this.#isTaken = true;
    const beginning = this.#begin(earlier);
    this.#beginning = beginning.catch(() => undefined);
    return await beginning;
  }

  /** Waits for the backup that is being begun. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#beginning;
  }

  async #begin(earlier: readonly string[]): Promise<StoreBackup> {
    const { folder } = this.#options;
    const copies = join(folder.spill, 'backup');
    await using held = new AsyncDisposableStack();
    held.defer(() => {
      this.#isTaken = false;
    });
    held.defer(() => rm(copies, { recursive: true, force: true }));
    try {
      await rm(copies, { recursive: true, force: true });
      await mkdir(copies);
      const there = earlier.filter((file) => existsSync(file));
      for (const file of there) await copyDatabase(file, join(copies, basename(file)));
      const { events, files } = await this.#copyMoment(copies, held);
      const published = files.map(({ file, bytes }) => ({ name: `${SEGMENTS_FOLDER}/${file}`, bytes, path: join(folder.segments, file) }));
      for (const { path, bytes } of published) {
        await refuseOther(path, bytes);
      }
      const letters = existsSync(join(copies, DEAD_LETTER_FILE)) ? [DEAD_LETTER_FILE] : [];
      const names = [...there.map((file) => basename(file)), ...letters, CATALOG_FILE];
      const databases = await Promise.all(names.map((name) => copiedFile(copies, name)));
      const storeId = this.#options.catalog.storeId();
      const kept = held.move();
      return { storeId, events, published, databases, copies, [Symbol.asyncDispose]: () => kept.disposeAsync() };
    } catch (error) {
      throw error instanceof StoreError && error.code !== 'corrupt'
        ? error
        : new StoreError('backup_failed', (error as Error).message, { cause: error });
    }
  }

  /**
   * Copies catalog and dead letters, and holds the files that the catalog names. No dead letter is removed from before the flush until the
   * moment of their copy: one that is replayed meanwhile may have its event behind the moment of the catalog.
   */
  async #copyMoment(copies: string, held: AsyncDisposableStack): Promise<CatalogCopy> {
    const { folder, deadLetters } = this.#options;
    using removals = await deadLetters.holdRemovals();
    await this.#flush();
    const catalog = await this.#holdCatalog(join(copies, CATALOG_FILE), held);
    if (existsSync(folder.deadLetterFile)) {
      await copyDatabase(folder.deadLetterFile, join(copies, DEAD_LETTER_FILE), () => removals[Symbol.dispose]());
    }
    return catalog;
  }

  /** Resolves when the events that are stored by now are in published segments. */
  async #flush(): Promise<void> {
    const { pipeline, loader, flusher } = this.#options;
    const upTo = await pipeline.betweenLoads(async () => {
      await loader.close();
      return loader.end.journal - 1;
    });
    await flusher.published(upTo);
  }

  /**
   * Copies the catalog, and holds the files that the copy names. SQLite does not tell of which moment a copy is, so the files that are live
   * before and after it are held. A file may have come and gone between the two: then the catalog is copied once more.
   */
  async #holdCatalog(to: string, held: AsyncDisposableStack): Promise<CatalogCopy> {
    for (;;) {
      const before = this.#holdLive(held);
      const copy = await copyCatalog(this.#options.catalog, to);
      const live = new Set([...before, ...this.#holdLive(held)]);
      // Searches leave out what is damaged, so it does not count as live; it may be missing from the backup.
      const files = copy.files.filter(({ file, isDamaged }) => live.has(file) || !isDamaged);
      if (files.every(({ file }) => live.has(file))) {
        return { ...copy, files };
      }
    }
  }

  /** Keeps the files of the segments folder that are live now, and returns their names. */
  #holdLive(held: AsyncDisposableStack): readonly string[] {
    const { versions } = this.#options;
    const files = [...versions.segments, ...versions.blobFiles];
    held.use(versions.acquire(files));
    return files.map(({ file }) => file);
  }
}

async function copiedFile(folder: string, name: string): Promise<BackupFile> {
  const path = join(folder, name);
  return { name, bytes: (await stat(path)).size, path };
}

async function refuseOther(path: string, bytes: number): Promise<void> {
  const { size } = await stat(path);
  if (size !== bytes) {
    throw new Error(`${JSON.stringify(path)} has ${size} bytes; the catalog says ${bytes}`);
  }
}

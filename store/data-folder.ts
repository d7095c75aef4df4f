import { mkdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from './store-error.ts';

/** Where the store keeps what, under DATA_DIR. */
export interface DataFolder {
  readonly root: string;
  /** A Parquet file, and another with the logs, per batch that is not yet in a published segment. */
  readonly journal: string;
  /** Parquet files; those the catalog names are the truth, others are remains. */
  readonly segments: string;
  /** Links that DuckDB reads journals, segments and bundles by; emptied at start. */
  readonly links: string;
  /** Where DuckDB spills; emptied at start. */
  readonly spill: string;
  readonly catalogFile: string;
}

/** Creates what is missing. Throws `StoreError` (`folder_unusable`) where that fails. */
export function prepareDataFolder(dataDir: string): DataFolder {
  const root = resolve(dataDir);
  const folder: DataFolder = {
    root,
    journal: join(root, 'journal'),
    segments: join(root, 'segments'),
    links: join(root, 'links'),
    spill: join(root, 'spill'),
    catalogFile: join(root, 'catalog.sqlite'),
  };
  try {
    for (const path of [folder.journal, folder.segments, folder.links, folder.spill]) {
      makeFolder(path);
    }
  } catch (error) {
    throw new StoreError('folder_unusable', `DATA_DIR: ${JSON.stringify(root)} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return folder;
}

/** Makes a folder and those above it. Node's own recursive `mkdir` never ends where a file system refuses with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) {
      return;
    }
    if (code !== 'ENOENT' || dirname(path) === path) {
      throw error;
    }
    makeFolder(dirname(path));
    mkdirSync(path);
  }
}

/** Makes creations, renames and removals in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

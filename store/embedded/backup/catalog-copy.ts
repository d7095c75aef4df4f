import { rm, stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { bigintRows, damageIn } from '../../sqlite-transaction.ts';
import { StoreError } from '../../store-error.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { hasItsState, isBackup, markAsBackup } from '../catalog/row-checksums.ts';

/** A file of the segments folder, as a copy of the catalog names it. */
export interface NamedFile {
  readonly file: string;
  readonly bytes: number;
  /** Whether it is damaged already, so that it may be missing. */
  readonly isDamaged: boolean;
}

/** The catalog at one moment, as the catalog of a folder that holds nothing but published files. */
export interface CatalogCopy {
  readonly files: readonly NamedFile[];
  readonly events: number;
}

/** What the catalog of a backup says, by which one backup is told from another. */
export interface BackupCatalog extends CatalogCopy {
  readonly storeId: number;
  /** The sequence of the next event. It only rises while a store lives. */
  readonly nextSequence: bigint;
}

/** A copy whose first step meets a commit of the catalog is empty, and is made again. */
const MAX_ATTEMPTS = 10;

/** Copies the catalog to a new file. Throws `StoreError` (`corrupt`) where the copy is not as the catalog was written. */
export async function copyCatalog(catalog: Pick<Catalog, 'copyTo'>, to: string): Promise<CatalogCopy> {
  for (let attempt = 1; ; attempt += 1) {
    await rm(to, { force: true });
    await catalog.copyTo(to);
    if ((await stat(to)).size > 0) {
      return prepareCopy(to);
    }
    if (attempt === MAX_ATTEMPTS) {
      throw new StoreError('corrupt', `the catalog could not be copied to ${JSON.stringify(to)} in ${attempt} attempts; try again`);
    }
  }
}

/** Takes out what belongs to journals, which a backup has none of, and the write-ahead log, which would be a file of its own. */
function prepareCopy(path: string): CatalogCopy {
  using database = new DatabaseSync(path);
  refuseDamaged(database);
  database.exec('PRAGMA journal_mode = DELETE; DELETE FROM empty_journals');
  markAsBackup(database);
  return contentOf(database);
}

/**
 * Reads the catalog of a backup; undefined where it is that of a program's folder. Throws `StoreError`
 * (`corrupt`) where it is damaged, and errors of SQLite where it is no catalog.
 */
export function readBackupCatalog(file: string): BackupCatalog | undefined {
  using database = new DatabaseSync(file, { readOnly: true });
  if (!isBackup(database)) return undefined;
  refuseDamaged(database);
  const progressOf = (name: string) => bigintRows(database, 'SELECT value FROM progress WHERE name = ?', name)[0]?.['value'];
  const next = progressOf('next_sequence') as bigint | undefined;
  return { ...contentOf(database), storeId: Number(progressOf('store_id')), nextSequence: next ?? 1n };
}

function refuseDamaged(database: DatabaseSync): void {
  const fault = damageIn(database) ?? (hasItsState(database) ? undefined : 'its progress is not as it was written');
  if (fault !== undefined) {
    throw new StoreError('corrupt', `the copy of the catalog is damaged: ${fault}`);
  }
}

function contentOf(database: DatabaseSync): CatalogCopy {
  const rows = database.prepare('SELECT file, bytes, damage FROM segments UNION ALL SELECT file, bytes, damage FROM blob_files').all();
  const events = Number(database.prepare('SELECT coalesce(sum(rows), 0) AS events FROM segments').get()?.['events']);
  const files = rows.map(({ file, bytes, damage }) => ({ file: String(file), bytes: Number(bytes), isDamaged: damage !== null }));
  return { files, events };
}

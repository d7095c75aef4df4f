import { stat } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

/** A connection waits this long for another one's lock. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies a SQLite file as it is at one moment, while others write to it. Calls `onMoment` when that moment is settled. Throws `StoreError`
 * (`backup_failed`) that names the file.
 */
export async function copyDatabase(from: string, to: string, onMoment: () => void = () => undefined): Promise<void> {
  try {
    using database = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    // Without a transaction of its own, the copy would begin anew with each write of another connection.
    database.exec('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    onMoment();
    await backup(database, to);
    if ((await stat(to)).size === 0) {
      throw new Error('nothing was copied');
    }
  } catch (error) {
    throw new StoreError('backup_failed', `${JSON.stringify(from)} cannot be copied: ${(error as Error).message}`, { cause: error });
  }
}

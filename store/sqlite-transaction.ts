import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** SQLite's code for an I/O error; its extended codes have it in their lowest byte. */
const IO_ERROR = 10;

/** SQLite's code for a full disk. */
const FULL = 13;

/** SQLite's codes for a damaged file, and for one that is no database. */
const DAMAGE = [11, 26];

/** SQLite's codes for a file without rights, one that is locked, read-only or does not open, an I/O error, and a full disk. */
const UNUSABLE = [3, 5, 6, 8, IO_ERROR, FULL, 14];

/**
 * A commit that failed while it was written or synced. The next process that opens the file may find it carried out or not, so nothing may
 * be removed that either outcome needs.
 */
export class CommitInDoubtError extends Error {
  override readonly name = 'CommitInDoubtError';
}

/**
 * Runs work in one write transaction and returns its result. The changes are durable when this returns. When work throws, nothing has
 * changed, and the error is thrown again. Throws CommitInDoubtError where the commit fails with an I/O error.
 */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    commit(database);
    return result;
  } catch (error) {
    // SQLite rolls back by itself where the disk is full. After a commit in doubt nothing more is to be done here.
    if (database.isTransaction && !(error instanceof CommitInDoubtError)) {
      database.exec('ROLLBACK');
    }
    throw error;
  }
}

function commit(database: DatabaseSync): void {
  try {
    database.exec('COMMIT');
  } catch (error) {
    if (!isIoError(error)) {
      throw error;
    }
    throw new CommitInDoubtError(`a commit may be on disk or not: ${(error as Error).message}`, { cause: error });
  }
}

function isIoError(error: unknown): boolean {
  return codeOf(error) === IO_ERROR;
}

/** Whether SQLite found no room on the disk. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === FULL;
}

/** Whether SQLite found its file damaged, or to be no database. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.includes(codeOf(error));
}

/** Whether SQLite cannot use its file for now, because of the disk, rights, or another program. */
export function isUnusable(error: unknown): boolean {
  return error instanceof CommitInDoubtError || UNUSABLE.includes(codeOf(error));
}

/** SQLite's code without its extension; 0 where it is no error of SQLite. */
function codeOf(error: unknown): number {
  return isSqliteError(error) ? error.errcode & 0xff : 0;
}

export function isSqliteError(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && 'errcode' in error;
}

/** What SQLite finds wrong with a whole database; undefined where nothing is. It reads many damaged pages without an error. */
export function damageIn(database: DatabaseSync): string | undefined {
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  return found === 'ok' ? undefined : found;
}

/** The rows of a query, with all integers as bigints: sequences and offsets have more bits than numbers hold. */
export function bigintRows(database: DatabaseSync, query: string, ...values: readonly SQLInputValue[]): ReturnType<StatementSync['all']> {
  const statement = database.prepare(query);
  statement.setReadBigInts(true);
  return statement.all(...values);
}

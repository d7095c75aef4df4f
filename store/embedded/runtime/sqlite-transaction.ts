import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs work in one write transaction and returns its result. The changes are durable when this returns. When work throws, nothing has
 * changed, and the error is thrown again.
 */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite rolls back by itself where the disk is full.
    if (database.isTransaction) {
      database.exec('ROLLBACK');
    }
    throw error;
  }
}

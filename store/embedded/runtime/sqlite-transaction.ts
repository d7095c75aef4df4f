import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs work in one write transaction and returns its result. All that it changes is durable when this returns; what it throws is thrown
 * again, and nothing has changed then.
 */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk has rolled it back already.
    if (database.isTransaction) {
      database.exec('ROLLBACK');
    }
    throw error;
  }
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The control plane's file inside DATA_DIR. */
const STATE_FILE = 'control-plane.sqlite';

/** `shieldlog tokens` writes beside the running program. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the control plane's state, making the folder and the file where they are missing. Write-ahead log with a sync at every commit: what
 * was answered survives a kill and a power cut.
 */
export function openState(dataDir: string): DatabaseSync {
  mkdirSync(dataDir, { recursive: true });
  const db = new DatabaseSync(join(dataDir, STATE_FILE), { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    db.exec('CREATE TABLE IF NOT EXISTS schema_version (resource TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Runs `work` inside one write transaction: all of it is kept, or, when it throws, none. Not to be nested. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  // IMMEDIATE, so that a second process makes us wait at the start instead of failing in the middle.
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk has ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** A resource's tables: version n is made by the first n migrations. */
export interface Migrated {
  readonly name: string;
  readonly migrations: readonly string[];
}

function versionOf(db: DatabaseSync, name: string): number {
  const row = db.prepare('SELECT version FROM schema_version WHERE resource = ?').get(name);
  return row === undefined ? 0 : Number(row['version']);
}

/**
 * Brings a resource's tables to their newest version, in one transaction; `seed` fills them where they did not exist before. Throws where
 * the file was written by a newer program.
 */
export function migrate(db: DatabaseSync, { name, migrations }: Migrated, seed: () => void = () => {}): void {
  inTransaction(db, () => {
    const version = versionOf(db, name);
    if (version > migrations.length) {
      throw new Error(
        `${STATE_FILE}: "${name}" has version ${version}, this program knows versions up to ${migrations.length}; run the newer program, or another DATA_DIR`,
      );
    }
    if (version === migrations.length) return;
    for (const sql of migrations.slice(version)) db.exec(sql);
    db.prepare('INSERT INTO schema_version (resource, version) VALUES (?, ?) ON CONFLICT DO UPDATE SET version = excluded.version').run(
      name,
      migrations.length,
    );
    if (version === 0) seed();
  });
}

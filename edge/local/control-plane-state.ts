import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EdgeError } from '../edge-error.ts';

/** The control plane's file inside DATA_DIR. */
export const STATE_FILE = 'control-plane.sqlite';

/** `shieldlog tokens` writes beside the running program. */
const BUSY_TIMEOUT_MS = 5_000;

/** The size of the file. Zones, specifications and certificates are kept until they are removed. */
export const STATE_LIMIT_BYTES = 1024 ** 3;

/** SQLite's code for a file that may not grow, and for a full disk. */
const FULL = 13;
const FULL_RETRY_AFTER_S = 3_600;

/**
 * Opens the state of the control plane and makes missing folders and files. The write-ahead log is synced at every commit, so that answered
 * changes survive a kill and a power cut.
 */
export function openState(dataDir: string): DatabaseSync {
  mkdirSync(dataDir, { recursive: true });
  const db = new DatabaseSync(join(dataDir, STATE_FILE), { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    db.exec('CREATE TABLE IF NOT EXISTS schema_version (resource TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
    limitSize(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function limitSize(db: DatabaseSync): void {
  const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size']);
  db.exec(`PRAGMA max_page_count = ${STATE_LIMIT_BYTES / pageBytes}`);
}

/** SQLite's codes for a damaged file, and for one that is no database. Codes have extensions above the lowest byte. */
const DAMAGE = [11, 26];

/** SQLite's code without its extension; 0 where it is no error of SQLite. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}

/** Returns EdgeError 503 `state.damaged` for an error of SQLite that found the state damaged; null for any other error. */
export function damagedState(error: unknown): EdgeError | null {
  if (!DAMAGE.includes(codeOf(error))) return null;
  const message = `The control plane's state is damaged: put ${STATE_FILE} back from a copy and start again, or move it away to begin anew`;
  return new EdgeError(503, 'state.damaged', message, { cause: error });
}

/**
 * Runs `work` in a write transaction: all of it is kept or, when it throws, none. It must not be nested. Throws EdgeError 503 `state.full`
 * where the file or the disk has no room.
 */
export function inPlaneTransaction<T>(db: DatabaseSync, work: () => T): T {
  // With IMMEDIATE a second process makes us wait at the start and not fail in the middle.
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk has ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK');
    if (codeOf(error) !== FULL) throw error;
    const message = `There is no room left: ${STATE_FILE} is full, or the disk is; allowed: ${STATE_LIMIT_BYTES} bytes`;
    throw new EdgeError(503, 'state.full', message, { headers: { 'retry-after': String(FULL_RETRY_AFTER_S) }, cause: error });
  }
}

/** The state was written by a newer program. The message is one line that names both versions and what to do. */
export class NewerState extends Error {
  override readonly name = 'NewerState';
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
 * Brings the tables of a resource to their newest version, in one transaction. `seed` fills new tables. Throws NewerState.
 */
export function migrate(db: DatabaseSync, { name, migrations }: Migrated, seed: () => void = () => {}): void {
  inPlaneTransaction(db, () => {
    const version = versionOf(db, name);
    if (version > migrations.length) {
      const known = `this program knows versions up to ${migrations.length}`;
      throw new NewerState(`${STATE_FILE}: "${name}" has version ${version}, ${known}; run the newer program, or another DATA_DIR`);
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

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EVENT_FIELDS_VERSION } from '../../../query/event-fields.ts';
import { inUseError } from '../../data-folder.ts';
import { type StoreLogger, silentLogger } from '../../event-store.ts';
import { damageIn, inTransaction, isDamage, isSqliteError } from '../../sqlite-transaction.ts';
import { StoreError } from '../../store-error.ts';
import { hasEmptyJournals } from '../journal/empty-journal-table.ts';
import { MIGRATIONS, OLDEST_VERSION } from './migrations.ts';
import { writeStateChecksum } from './row-checksums.ts';

const SCHEMA = `
  CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
    min_timestamp INTEGER NOT NULL, max_timestamp INTEGER NOT NULL, min_sequence INTEGER NOT NULL, max_sequence INTEGER NOT NULL,
    blocks BLOB, damage TEXT, checksum INTEGER
  ) STRICT;
  CREATE TABLE segment_zones (
    segment_id INTEGER NOT NULL REFERENCES segments(id) ON DELETE CASCADE, zone_id INTEGER NOT NULL, rows INTEGER NOT NULL,
    PRIMARY KEY (segment_id, zone_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE blob_files (
    number INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
    min_sequence INTEGER NOT NULL, max_sequence INTEGER NOT NULL, text_bytes INTEGER NOT NULL, ingest_times BLOB NOT NULL,
    index_crc32 INTEGER, damage TEXT, checksum INTEGER
  ) STRICT;
  CREATE TABLE source_offsets (
    topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL, topic_id TEXT, PRIMARY KEY (topic, partition)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE expired_watermarks (
    zone_id INTEGER NOT NULL, run INTEGER NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (zone_id, run)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE epochs (
    number INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, first_sequence INTEGER NOT NULL, runs INTEGER NOT NULL
  ) STRICT;
  INSERT INTO progress (name, value) VALUES ('store_id', abs(random() % 4294967296));
  INSERT INTO epochs (epoch, first_sequence, runs) SELECT value, 1, 0 FROM progress WHERE name = 'store_id';
`;

/** What to do where the catalog cannot tell which files hold the events. */
export const CATALOG_REPAIR =
  'no file was changed; move its catalog.sqlite-wal away and put catalog.sqlite back from a copy, have it made anew by ' +
  "'shieldlog check --repair', or choose another folder";

/** The version of a new catalog: that of the last migration. */
const VERSION = MIGRATIONS.at(-1)?.to ?? OLDEST_VERSION;

export interface CatalogDatabaseOptions {
  /** Whether the folder holds events already, so that its catalog is lost where there is none. Default: it does not. */
  readonly holdsEvents?: boolean;
  /** Is told of a migration. */
  readonly logger?: StoreLogger;
}

/**
 * Opens the SQLite file of a catalog under an exclusive lock, which goes with the process, however it ends. Makes its tables where it is
 * new, and migrates it where it is older. `inspectCatalogDatabase` comes first, and looks for damage. Throws `StoreError`: `folder_in_use`,
 * `folder_unusable`, `corrupt`.
 */
export function openCatalogDatabase(
  file: string,
  { holdsEvents = false, logger = silentLogger }: CatalogDatabaseOptions = {},
): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    // SQLite would make the file, and write to one without bytes.
    if (holdsEvents && !hasCatalog(file)) {
      throw lostCatalog(file);
    }
    database = new DatabaseSync(file);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    create(database, () => {
      if (holdsEvents) throw lostCatalog(file);
    });
    refuseUnreadable(database, file);
    migrate(database, dirname(file), logger);
    return database;
  } catch (error) {
    database?.close();
    throw asOpenError(file, error);
  }
}

/**
 * Opens the SQLite file of a catalog to look at it. Nothing is changed, also where its write-ahead log holds commits that are not in the
 * file yet; SQLite may make a `-shm` and an empty `-wal` file beside it, which the caller removes. Returns undefined where the catalog is
 * new or older: then it has to be made or migrated first. Throws `StoreError`: `folder_in_use`, `folder_unusable`, `corrupt`.
 */
export function inspectCatalogDatabase(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    refuseDamaged(database, file);
    if (versionOf(database) < VERSION || !hasEmptyJournals(database)) {
      database.close();
      return undefined;
    }
    refuseUnreadable(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw asOpenError(file, error);
  }
}

/**
 * Carries out work that reads a whole catalog. Throws `StoreError` (`corrupt`) where SQLite refuses one of its statements, as it does where
 * the text of a table's definition was damaged.
 */
export async function readingCatalog<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSqliteError(error) ? damagedCatalog(file, error.message, error) : error;
  }
}

/** Whether the file of a catalog is there and has any bytes. */
export function hasCatalog(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function lostCatalog(file: string): StoreError {
  const folder = JSON.stringify(dirname(file));
  const what = `${folder} holds events, and its catalog ${JSON.stringify(file)} is missing or has no tables`;
  return new StoreError('corrupt', `DATA_DIR: ${what}; ${CATALOG_REPAIR}`);
}

function refuseDamaged(database: DatabaseSync, file: string): void {
  const found = damageIn(database);
  if (found !== undefined) {
    throw damagedCatalog(file, found);
  }
}

function damagedCatalog(file: string, what: string, cause?: unknown): StoreError {
  return new StoreError('corrupt', `DATA_DIR: the catalog ${JSON.stringify(file)} is damaged: ${what}; ${CATALOG_REPAIR}`, { cause });
}

/**
 * Makes the tables of a new catalog, after `beforeTables`. Begins a write in any case, so that another process that has the file open is
 * noticed.
 */
function create(database: DatabaseSync, beforeTables: () => void): void {
  inTransaction(database, () => {
    if (versionOf(database) === 0) {
      beforeTables();
      database.exec(SCHEMA);
      database.exec(`PRAGMA user_version = ${VERSION}`);
      writeFieldsVersion(database);
    }
  });
}

function refuseUnreadable(database: DatabaseSync, file: string): void {
  const folder = JSON.stringify(dirname(file));
  const version = versionOf(database);
  if (version < OLDEST_VERSION || version > VERSION) {
    const reads = `this program reads versions ${OLDEST_VERSION} to ${VERSION}`;
    const advice = `open it with ${version > VERSION ? 'a newer' : 'an older'} program, or choose another folder`;
    throw new StoreError('folder_unusable', `DATA_DIR: ${folder} is of version ${version}; ${reads}; ${advice}`);
  }
  const fields = fieldsVersionOf(database);
  if (fields > EVENT_FIELDS_VERSION) {
    const reads = `this program has version ${EVENT_FIELDS_VERSION}, and would lose fields of events`;
    const advice = 'open it with a newer program, or choose another folder';
    throw new StoreError('folder_unusable', `DATA_DIR: ${folder} has the event fields of version ${fields}; ${reads}; ${advice}`);
  }
}

/** Brings an older catalog to the newest version. A migration that was interrupted begins again. */
function migrate(database: DatabaseSync, folder: string, logger: StoreLogger): void {
  const [from, fromEventFields] = [versionOf(database), fieldsVersionOf(database)];
  for (const { to, prepare, change } of MIGRATIONS) {
    if (versionOf(database) < to) {
      prepare(database, folder);
      inTransaction(database, () => {
        database.exec(change);
        database.exec(`PRAGMA user_version = ${to}`);
      });
    }
  }
  if (fieldsVersionOf(database) < EVENT_FIELDS_VERSION) {
    // From now on segments have the new fields, which an older program would drop when it merges.
    inTransaction(database, () => {
      writeFieldsVersion(database);
      writeStateChecksum(database);
    });
  }
  if (from < VERSION || fromEventFields < EVENT_FIELDS_VERSION) {
    const versions = { from, to: VERSION, fromEventFields, toEventFields: EVENT_FIELDS_VERSION };
    logger.info(versions, 'the data folder was brought to the version of this program; earlier ones refuse it from now on');
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** The version of the table of event fields by which segments may have been written; 1 in catalogs that do not say. */
function fieldsVersionOf(database: DatabaseSync): number {
  return Number(database.prepare("SELECT value FROM progress WHERE name = 'event_fields_version'").get()?.['value'] ?? 1);
}

function writeFieldsVersion(database: DatabaseSync): void {
  database.prepare("INSERT OR REPLACE INTO progress (name, value) VALUES ('event_fields_version', ?)").run(EVENT_FIELDS_VERSION);
}

function asOpenError(file: string, error: unknown): StoreError {
  if (error instanceof StoreError) {
    return error;
  }
  const { message } = error as Error;
  if (isDamage(error)) {
    return damagedCatalog(file, message, error);
  }
  return (
    inUseError(file, error) ?? new StoreError('folder_unusable', `${file}: the catalog cannot be opened: ${message}`, { cause: error })
  );
}

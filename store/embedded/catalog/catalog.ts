import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SourceOffset } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import { EmptyJournalTable } from '../journal/empty-journal-table.ts';
import { inTransaction } from '../runtime/sqlite-transaction.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment, UnpublishedSegment } from '../segment/segment.ts';
import { EXPIRED_WATERMARK_SCHEMA, ExpiredWatermarkTable } from './expired-watermark-table.ts';
import type { ExpiredWatermark } from './expired-watermarks.ts';
import { LegacyDeadLetters } from './legacy-dead-letters.ts';

const SCHEMA_VERSION = 6;

const SCHEMA = `
  CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
    min_timestamp INTEGER NOT NULL, max_timestamp INTEGER NOT NULL, min_sequence INTEGER NOT NULL, max_sequence INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE segment_zones (
    segment_id INTEGER NOT NULL REFERENCES segments(id) ON DELETE CASCADE, zone_id INTEGER NOT NULL, rows INTEGER NOT NULL,
    PRIMARY KEY (segment_id, zone_id)
  ) STRICT, WITHOUT ROWID;
  -- The blob files; on disk the table keeps an old name.
  CREATE TABLE bundles (
    number INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
    min_sequence INTEGER NOT NULL, max_sequence INTEGER NOT NULL, text_bytes INTEGER NOT NULL, ingest_times BLOB NOT NULL
  ) STRICT;
  -- The source offsets; on disk the table keeps an old name.
  CREATE TABLE positions (
    topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL, PRIMARY KEY (topic, partition)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  ${EXPIRED_WATERMARK_SCHEMA}
  INSERT INTO progress (name, value) VALUES ('store_id', abs(random() % 4294967296));
`;

/** What one flush, compaction or retention run changes, in one transaction. */
export interface CatalogChange {
  readonly add: readonly UnpublishedSegment[];
  readonly remove: readonly Segment[];
  readonly addBlobFile?: BlobFile;
  readonly removeBlobFiles?: readonly BlobFile[];
  /** What is dropped for good with the segments. */
  readonly watermarks?: readonly ExpiredWatermark[];
  readonly progress?: CatalogProgress;
}

export interface CatalogProgress {
  /** Every journal up to this number is in published segments. */
  readonly flushedJournal: number;
  readonly nextSequence: bigint;
  readonly sourceOffsets: readonly SourceOffset[];
  readonly expiredEvents: number;
  readonly duplicateEvents: number;
}

/**
 * The durable list of what is published: segments and the source offsets they contain.
 * A small SQLite file, held under an exclusive lock for as long as the program runs; the lock goes with the process, however it ends.
 */
export class Catalog {
  readonly legacyDeadLetters: LegacyDeadLetters;
  readonly expiredWatermarks: ExpiredWatermarkTable;
  readonly emptyJournals: EmptyJournalTable;
  readonly #database: DatabaseSync;
  readonly #insertSegment: StatementSync;
  readonly #insertZone: StatementSync;
  readonly #deleteSegment: StatementSync;
  readonly #insertBlobFile: StatementSync;
  readonly #deleteBlobFile: StatementSync;
  readonly #putSourceOffset: StatementSync;
  readonly #putProgress: StatementSync;

  constructor(file: string) {
    this.#database = openExclusively(file);
    this.legacyDeadLetters = new LegacyDeadLetters(this.#database);
    this.expiredWatermarks = new ExpiredWatermarkTable(this.#database);
    this.emptyJournals = new EmptyJournalTable(this.#database);
    this.#insertSegment = this.#database.prepare(
      'INSERT INTO segments (file, rows, bytes, min_timestamp, max_timestamp, min_sequence, max_sequence) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#insertZone = this.#database.prepare('INSERT INTO segment_zones (segment_id, zone_id, rows) VALUES (?, ?, ?)');
    this.#deleteSegment = this.#database.prepare('DELETE FROM segments WHERE id = ?');
    this.#insertBlobFile = this.#database.prepare(
      'INSERT INTO bundles (number, file, rows, bytes, min_sequence, max_sequence, text_bytes, ingest_times) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#deleteBlobFile = this.#database.prepare('DELETE FROM bundles WHERE number = ?');
    this.#putSourceOffset = this.#database.prepare('INSERT OR REPLACE INTO positions (topic, partition, next_offset) VALUES (?, ?, ?)');
    this.#putProgress = this.#database.prepare('INSERT OR REPLACE INTO progress (name, value) VALUES (?, ?)');
  }

  segments(): Segment[] {
    const zones = new Map<number, Map<number, number>>();
    for (const row of this.#database.prepare('SELECT segment_id, zone_id, rows FROM segment_zones').all()) {
      const segmentId = Number(row['segment_id']);
      const rows = zones.get(segmentId) ?? new Map<number, number>();
      rows.set(Number(row['zone_id']), Number(row['rows']));
      zones.set(segmentId, rows);
    }
    const statement = this.#database.prepare('SELECT * FROM segments ORDER BY id');
    statement.setReadBigInts(true);
    return statement.all().map((row) => ({
      id: Number(row['id']),
      file: String(row['file']),
      rows: Number(row['rows']),
      bytes: Number(row['bytes']),
      minTimestamp: Number(row['min_timestamp']),
      maxTimestamp: Number(row['max_timestamp']),
      minSequence: row['min_sequence'] as bigint,
      maxSequence: row['max_sequence'] as bigint,
      zoneRows: zones.get(Number(row['id'])) ?? new Map(),
    }));
  }

  blobFiles(): BlobFile[] {
    const statement = this.#database.prepare('SELECT * FROM bundles ORDER BY number');
    statement.setReadBigInts(true);
    return statement.all().map((row) => ({
      number: Number(row['number']),
      file: String(row['file']),
      rows: Number(row['rows']),
      bytes: Number(row['bytes']),
      minSequence: row['min_sequence'] as bigint,
      maxSequence: row['max_sequence'] as bigint,
      textBytes: Number(row['text_bytes']),
      ingestTimes: row['ingest_times'] as Uint8Array,
    }));
  }

  progress(): CatalogProgress {
    const values = this.#database.prepare('SELECT name, value FROM progress');
    values.setReadBigInts(true);
    const byName = new Map(values.all().map((row) => [String(row['name']), row['value'] as bigint]));
    const sourceOffsets = this.#database.prepare('SELECT topic, partition, next_offset FROM positions');
    sourceOffsets.setReadBigInts(true);
    return {
      // On disk the name keeps the old word for a flush.
      flushedJournal: Number(byName.get('sealed_journal') ?? 0n),
      nextSequence: byName.get('next_sequence') ?? 1n,
      expiredEvents: Number(byName.get('expired_events') ?? 0n),
      duplicateEvents: Number(byName.get('duplicate_events') ?? 0n),
      sourceOffsets: sourceOffsets.all().map((row) => ({
        topic: String(row['topic']),
        partition: Number(row['partition']),
        nextOffset: row['next_offset'] as bigint,
      })),
    };
  }

  /** 32 bits by which this store is told from others, for as long as it lives. */
  storeId(): number {
    return Number(this.#database.prepare("SELECT value FROM progress WHERE name = 'store_id'").get()?.['value']);
  }

  /** Publishes and withdraws segments and blob files in one transaction; returns the new segments with their numbers. */
  apply({ add, remove, addBlobFile, removeBlobFiles = [], watermarks = [], progress }: CatalogChange): Segment[] {
    return inTransaction(this.#database, () => {
      const added = add.map((segment) => this.#publish(segment));
      for (const segment of remove) {
        this.#deleteSegment.run(segment.id);
      }
      if (addBlobFile !== undefined) {
        const { number, file, rows, bytes, minSequence, maxSequence, textBytes, ingestTimes } = addBlobFile;
        this.#insertBlobFile.run(number, file, rows, bytes, minSequence, maxSequence, textBytes, ingestTimes);
      }
      for (const { number } of removeBlobFiles) {
        this.#deleteBlobFile.run(number);
      }
      this.expiredWatermarks.add(watermarks);
      if (progress !== undefined) {
        this.#record(progress);
      }
      return added;
    });
  }

  close(): void {
    this.#database.close();
  }

  #publish(segment: UnpublishedSegment): Segment {
    const { file, rows, bytes, minTimestamp, maxTimestamp, minSequence, maxSequence } = segment;
    const { lastInsertRowid } = this.#insertSegment.run(file, rows, bytes, minTimestamp, maxTimestamp, minSequence, maxSequence);
    for (const [zoneId, zoneRows] of segment.zoneRows) {
      this.#insertZone.run(lastInsertRowid, zoneId, zoneRows);
    }
    return { ...segment, id: Number(lastInsertRowid) };
  }

  #record({ flushedJournal, nextSequence, sourceOffsets, expiredEvents, duplicateEvents }: CatalogProgress): void {
    this.#putProgress.run('sealed_journal', flushedJournal);
    this.#putProgress.run('next_sequence', nextSequence);
    this.#putProgress.run('expired_events', expiredEvents);
    this.#putProgress.run('duplicate_events', duplicateEvents);
    for (const { topic, partition, nextOffset } of sourceOffsets) {
      this.#putSourceOffset.run(topic, partition, nextOffset);
    }
  }
}

function openExclusively(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    database.exec('BEGIN IMMEDIATE');
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version === 0) {
      database.exec(SCHEMA);
      database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    database.exec('COMMIT');
    if (version !== 0 && version !== SCHEMA_VERSION) {
      const age = version > SCHEMA_VERSION ? 'newer' : 'older';
      throw new StoreError(
        'folder_unusable',
        `DATA_DIR: ${file} is of version ${version}, ${age} than this program's, which is ${SCHEMA_VERSION}; choose another folder`,
      );
    }
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StoreError) {
      throw error;
    }
    if (/locked|busy/i.test((error as Error).message)) {
      throw new StoreError(
        'folder_in_use',
        `DATA_DIR: another shieldlog process is using ${JSON.stringify(file)}; stop it or choose another folder`,
        {
          cause: error,
        },
      );
    }
    throw new StoreError('folder_unusable', `${file}: the catalog cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

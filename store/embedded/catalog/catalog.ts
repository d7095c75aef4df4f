import { backup, type DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { SourceOffset } from '../../event-store.ts';
import { bigintRows, CommitInDoubtError, damageIn, inTransaction } from '../../sqlite-transaction.ts';
import { StoreError } from '../../store-error.ts';
import { type EmptyJournal, EmptyJournalTable } from '../journal/empty-journal-table.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment, UnpublishedSegment } from '../segment/segment.ts';
import { CATALOG_REPAIR, type CatalogDatabaseOptions, openCatalogDatabase } from './catalog-database.ts';
import { EpochTable } from './epoch-table.ts';
import { type ExpiredWatermark, ExpiredWatermarkTable } from './expired-watermarks.ts';
import { blobFileChecksum, hasItsState, isBackup, segmentChecksum, unmarkAsBackup, writeStateChecksum } from './row-checksums.ts';

/** The changes of one flush, merge or sweep of the retention, which are made in one transaction. */
export interface CatalogChange {
  readonly add: readonly UnpublishedSegment[];
  readonly remove: readonly Segment[];
  readonly addBlobFile?: BlobFile;
  readonly removeBlobFiles?: readonly BlobFile[];
  /** The highest sequences that are removed for good with the segments. */
  readonly watermarks?: readonly ExpiredWatermark[];
  readonly progress?: CatalogProgress;
  /** Journals whose events are lost. */
  readonly emptyJournals?: readonly EmptyJournal[];
}

/** Events that were taken in but are not stored, counted over the life of the data folder. */
export interface StoreCounters {
  expiredEvents: number;
  duplicateEvents: number;
}

export interface CatalogProgress extends Readonly<StoreCounters> {
  /** All journals up to this number are in published segments. */
  readonly flushedJournal: number;
  readonly nextSequence: bigint;
  readonly sourceOffsets: readonly SourceOffset[];
}

export interface CatalogOptions extends CatalogDatabaseOptions {
  /** Called where a commit is in doubt. Every later change throws the same error. */
  readonly onInDoubt?: (error: CommitInDoubtError) => void;
  /** A database that is open already, which the catalog closes. */
  readonly opened?: DatabaseSync;
}

/**
 * The durable list of the published segments and blob files, with the source offsets that they contain. It is a small SQLite file under an
 * exclusive lock, which the operating system takes away when the process ends.
 */
export class Catalog implements Disposable {
  readonly expiredWatermarks: ExpiredWatermarkTable;
  readonly emptyJournals: EmptyJournalTable;
  readonly epochs: EpochTable;
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #onInDoubt: (error: CommitInDoubtError) => void;
  #inDoubt: CommitInDoubtError | undefined;

  constructor(file: string, options: CatalogOptions = {}) {
    const { onInDoubt = () => undefined, opened = openCatalogDatabase(file, options) } = options;
    this.#file = file;
    this.#onInDoubt = onInDoubt;
    this.#database = opened;
    this.expiredWatermarks = new ExpiredWatermarkTable(this.#database);
    this.emptyJournals = new EmptyJournalTable(this.#database, (work) => this.#change(work));
    this.epochs = new EpochTable(this.#database, (work) => this.#change(work));
  }

  /** All segments, or the one with this id. Throws `StoreError` (`corrupt`) where a row is not as it was written. */
  segments(...ids: readonly [] | readonly [id: number]): Segment[] {
    const [isWanted, isOfWanted] = ids.length === 0 ? ['TRUE', 'TRUE'] : ['id = ?', 'segment_id = ?'];
    const zones = new Map<number, Map<number, number>>();
    const zoneRows = this.#database.prepare(`SELECT segment_id, zone_id, rows FROM segment_zones WHERE ${isOfWanted}`);
    for (const row of zoneRows.all(...ids)) {
      const segmentId = Number(row['segment_id']);
      const rows = zones.get(segmentId) ?? new Map<number, number>();
      rows.set(Number(row['zone_id']), Number(row['rows']));
      zones.set(segmentId, rows);
    }
    return bigintRows(this.#database, `SELECT * FROM segments WHERE ${isWanted} ORDER BY id`, ...ids).map((row) => {
      const segment: Segment = {
        id: Number(row['id']),
        file: String(row['file']),
        rows: Number(row['rows']),
        bytes: Number(row['bytes']),
        minTimestamp: Number(row['min_timestamp']),
        maxTimestamp: Number(row['max_timestamp']),
        minSequence: row['min_sequence'] as bigint,
        maxSequence: row['max_sequence'] as bigint,
        zoneRows: zones.get(Number(row['id'])) ?? new Map(),
        ...(row['blocks'] === null ? {} : { blocks: row['blocks'] as Uint8Array }),
        ...(row['damage'] === null ? {} : { damage: String(row['damage']) }),
      };
      this.#refuseChanged(row, segmentChecksum(segment));
      return segment;
    });
  }

  /** All blob files, or the one with this number. Throws `StoreError` (`corrupt`) where a row is not as it was written. */
  blobFiles(...numbers: readonly [] | readonly [number: number]): BlobFile[] {
    const isWanted = numbers.length === 0 ? 'TRUE' : 'number = ?';
    return bigintRows(this.#database, `SELECT * FROM blob_files WHERE ${isWanted} ORDER BY number`, ...numbers).map((row) => {
      const blobFile: BlobFile = {
        number: Number(row['number']),
        file: String(row['file']),
        rows: Number(row['rows']),
        bytes: Number(row['bytes']),
        minSequence: row['min_sequence'] as bigint,
        maxSequence: row['max_sequence'] as bigint,
        textBytes: Number(row['text_bytes']),
        ingestTimes: row['ingest_times'] as Uint8Array,
        ...(row['index_crc32'] === null ? {} : { indexCrc32: Number(row['index_crc32']) }),
        ...(row['damage'] === null ? {} : { damage: String(row['damage']) }),
      };
      this.#refuseChanged(row, blobFileChecksum(blobFile));
      return blobFile;
    });
  }

  /** Notes why a segment cannot be read, or with undefined that it can be read again. A segment that is gone meanwhile is no error. */
  noteDamage({ id }: Pick<Segment, 'id'>, fault: string | undefined): void {
    this.#amendSegment(id, ({ damage: _, ...segment }) => (fault === undefined ? segment : { ...segment, damage: fault }));
  }

  /** Adds the checksums of a segment that an earlier version wrote. A segment that is gone meanwhile is no error. */
  addBlocks({ id }: Pick<Segment, 'id'>, blocks: Uint8Array): void {
    this.#amendSegment(id, (segment) => ({ ...segment, blocks }));
  }

  /** Notes what was found out about a blob file. A blob file that is gone meanwhile is no error. */
  noteBlobFile({ number }: Pick<BlobFile, 'number'>, found: { readonly indexCrc32?: number; readonly damage: string | undefined }): void {
    this.#change(() => {
      for (const blobFile of this.blobFiles(number)) {
        const { damage: before, ...rest } = blobFile;
        const { damage = null, indexCrc32 = blobFile.indexCrc32 ?? null } = found;
        const amended = { ...rest, ...(indexCrc32 === null ? {} : { indexCrc32 }), ...(damage === null ? {} : { damage }) };
        const update = 'UPDATE blob_files SET index_crc32 = ?, damage = ?, checksum = ? WHERE number = ?';
        this.#run(update, indexCrc32, damage, blobFileChecksum(amended), number);
      }
    });
  }

  #amendSegment(id: number, amend: (segment: Segment) => Segment): void {
    this.#change(() => {
      for (const segment of this.segments(id).map(amend)) {
        const { blocks = null, damage = null } = segment;
        const update = 'UPDATE segments SET blocks = ?, damage = ?, checksum = ? WHERE id = ?';
        this.#run(update, blocks, damage, segmentChecksum(segment), id);
      }
    });
  }

  /** Rows of earlier versions have no checksum until the store writes them again. */
  #refuseChanged({ file, checksum }: Record<string, unknown>, found: number): void {
    if (checksum !== null && Number(checksum) !== found) {
      const what = `its row of ${JSON.stringify(file)} is not as it was written`;
      throw new StoreError('corrupt', `DATA_DIR: the catalog ${JSON.stringify(this.#file)} is damaged: ${what}; ${CATALOG_REPAIR}`);
    }
  }

  progress(): CatalogProgress {
    const values = bigintRows(this.#database, 'SELECT name, value FROM progress');
    const byName = new Map(values.map((row) => [String(row['name']), row['value'] as bigint]));
    const sourceOffsets = bigintRows(this.#database, 'SELECT topic, partition, next_offset, topic_id FROM source_offsets');
    return {
      flushedJournal: Number(byName.get('flushed_journal') ?? 0n),
      nextSequence: byName.get('next_sequence') ?? 1n,
      expiredEvents: Number(byName.get('expired_events') ?? 0n),
      duplicateEvents: Number(byName.get('duplicate_events') ?? 0n),
      sourceOffsets: sourceOffsets.map((row) => ({
        topic: String(row['topic']),
        partition: Number(row['partition']),
        nextOffset: row['next_offset'] as bigint,
        ...(row['topic_id'] === null ? {} : { topicId: String(row['topic_id']) }),
      })),
    };
  }

  /** 32 bits that tell this store from others for as long as its folder exists. */
  storeId(): number {
    return Number(this.#database.prepare("SELECT value FROM progress WHERE name = 'store_id'").get()?.['value']);
  }

  /** Publishes and withdraws segments and blob files in one transaction; returns the new segments with their ids. */
  apply({ add, remove, addBlobFile, removeBlobFiles = [], watermarks = [], progress, emptyJournals = [] }: CatalogChange): Segment[] {
    return this.#change(() => {
      for (const journal of emptyJournals) {
        this.emptyJournals.insert(journal);
      }
      const added = add.map((segment) => this.#publish(segment));
      for (const segment of remove) {
        this.#run('DELETE FROM segments WHERE id = ?', segment.id);
      }
      if (addBlobFile !== undefined) {
        this.#publishBlobFile(addBlobFile);
      }
      for (const { number } of removeBlobFiles) {
        this.#run('DELETE FROM blob_files WHERE number = ?', number);
      }
      this.expiredWatermarks.add(watermarks);
      if (progress !== undefined) {
        this.#record(progress);
      }
      this.#putProgress('published_files', this.#countFiles());
      writeStateChecksum(this.#database);
      return added;
    });
  }

  /**
   * Whether the catalog is as the last change left it: it has as many files, and the same progress. It is not where a page was damaged, or
   * where SQLite replayed a write-ahead log over another catalog than its own: single pages are then of different times.
   */
  isAsWritten(): boolean {
    const noted = this.#database.prepare("SELECT value FROM progress WHERE name = 'published_files'").get()?.['value'];
    return (noted === undefined || noted === this.#countFiles()) && hasItsState(this.#database);
  }

  /** Whether this is the catalog of a backup: files that it does not name were then copied for a later backup. */
  isBackup(): boolean {
    return isBackup(this.#database);
  }

  /** Takes away the mark of a backup: from now on this is the catalog of a program's folder. */
  endBackup(): void {
    if (this.isBackup()) {
      this.#change(() => unmarkAsBackup(this.#database));
    }
  }

  /** Copies the catalog as it is at one moment to a file. Nothing is copied where a commit is in the way. */
  async copyTo(file: string): Promise<void> {
    await backup(this.#database, file);
  }

  /** What is wrong with the catalog's own file; undefined where nothing is. */
  fault(): string | undefined {
    return damageIn(this.#database) ?? (this.isAsWritten() ? undefined : 'it is not as the last change left it');
  }

  #countFiles(): number {
    const row = this.#database.prepare('SELECT (SELECT count(*) FROM segments) + (SELECT count(*) FROM blob_files) AS files').get();
    return Number(row?.['files']);
  }

  /** The highest id that a segment ever had; 0 before the first. */
  lastSegmentId(): number {
    return Number(this.#database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'segments'").get()?.['seq'] ?? 0);
  }

  /**
   * Moves all commits into the file itself and syncs it. Where an earlier process failed to sync a commit that is read here, the system may
   * hold it in memory alone, and would not write it by itself.
   */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#database.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #change<T>(work: () => T): T {
    if (this.#inDoubt !== undefined) {
      throw this.#inDoubt;
    }
    try {
      return inTransaction(this.#database, work);
    } catch (error) {
      if (error instanceof CommitInDoubtError) {
        this.#inDoubt = error;
        this.#onInDoubt(error);
      }
      throw error;
    }
  }

  #run(statement: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#database.prepare(statement).run(...values).lastInsertRowid);
  }

  #publish(segment: UnpublishedSegment): Segment {
    const { file, rows, bytes, minTimestamp, maxTimestamp, minSequence, maxSequence, blocks = null, damage = null } = segment;
    const id = this.#run(
      `INSERT INTO segments (file, rows, bytes, min_timestamp, max_timestamp, min_sequence, max_sequence, blocks, damage, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[file, rows, bytes, minTimestamp, maxTimestamp, minSequence, maxSequence, blocks, damage, segmentChecksum(segment)],
    );
    const insertZone = this.#database.prepare('INSERT INTO segment_zones (segment_id, zone_id, rows) VALUES (?, ?, ?)');
    for (const [zoneId, zoneRows] of segment.zoneRows) {
      insertZone.run(id, zoneId, zoneRows);
    }
    return { ...segment, id };
  }

  #publishBlobFile(blobFile: BlobFile): void {
    const { number, file, rows, bytes, minSequence, maxSequence, textBytes, ingestTimes, indexCrc32 = null, damage = null } = blobFile;
    const content = [rows, bytes, minSequence, maxSequence, textBytes, ingestTimes, indexCrc32, damage];
    this.#run(
      `INSERT INTO blob_files
        (number, file, rows, bytes, min_sequence, max_sequence, text_bytes, ingest_times, index_crc32, damage, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[number, file, ...content, blobFileChecksum(blobFile)],
    );
  }

  #putProgress(name: string, value: number | bigint): void {
    this.#run('INSERT OR REPLACE INTO progress (name, value) VALUES (?, ?)', name, value);
  }

  #record({ flushedJournal, nextSequence, sourceOffsets, expiredEvents, duplicateEvents }: CatalogProgress): void {
    this.#putProgress('flushed_journal', flushedJournal);
    this.#putProgress('next_sequence', nextSequence);
    this.#putProgress('expired_events', expiredEvents);
    this.#putProgress('duplicate_events', duplicateEvents);
    const put = this.#database.prepare(
      'INSERT OR REPLACE INTO source_offsets (topic, partition, next_offset, topic_id) VALUES (?, ?, ?, ?)',
    );
    for (const { topic, partition, nextOffset, topicId = null } of sourceOffsets) {
      put.run(topic, partition, nextOffset, topicId);
    }
  }
}

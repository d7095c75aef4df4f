import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { wholeNumberIn } from '../../../query/integer-ranges.ts';
import type { DeadLetter, DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from '../../dead-letter.ts';
import { identityOf, messageHashOf } from '../../dead-letter-identity.ts';
import { RECORDS_SHARE, recordCostOf } from '../../dead-letter-shares.ts';
import { inTransaction } from '../../sqlite-transaction.ts';
import { StoreError } from '../../store-error.ts';
import { DeadLetterShares } from './dead-letter-quota.ts';

const WAL_LIMIT_BYTES = 16 * 1024 * 1024;
/** A connection waits this long for another one's lock, such as that of a backup, or of an earlier thread that is ending. */
const BUSY_TIMEOUT_MS = 5_000;

const NO_BYTES = new Uint8Array(0);

/** Lets the letters of the zones through that a parameter lists as JSON; all where it is null. */
const OF_ZONES = '(:zones IS NULL OR zone_id IN (SELECT value FROM json_each(:zones)))';

const zonesParameter = (zones: DeadLetterSelection['zones']): string | null => (zones === 'all' ? null : JSON.stringify(zones));

/** The ids of the table are row ids, which JavaScript holds exactly. */
export const embeddedLetterIds: DeadLetterIds = {
  allowed: `a whole number 0..${Number.MAX_SAFE_INTEGER}`,
  parse: (named) => wholeNumberIn(String(named), 0, Number.MAX_SAFE_INTEGER)?.toString() ?? null,
};

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT, identity BLOB NOT NULL UNIQUE, zone_id INTEGER, record_only INTEGER NOT NULL,
    cost INTEGER NOT NULL, received_at INTEGER NOT NULL, source TEXT NOT NULL, topic TEXT, partition INTEGER,
    message_offset INTEGER, reason TEXT NOT NULL,
    size_bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, bytes BLOB NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS dead_letters_by_zone ON dead_letters (zone_id, id);
  CREATE INDEX IF NOT EXISTS dead_letters_by_age ON dead_letters (received_at);
  CREATE INDEX IF NOT EXISTS dead_letters_by_cost ON dead_letters (record_only, id, cost);
`;

/** The error of a table that cannot be opened. */
export function deadLetterError(file: string, error: unknown): StoreError {
  const what = `DATA_DIR: the dead letters in ${JSON.stringify(file)} cannot be opened: ${(error as Error).message}`;
  return new StoreError('folder_unusable', what, { cause: error });
}

/** A letter on its way into the table. */
export interface NewDeadLetter extends DeadLetter {
  readonly receivedAtMs: number;
  /** The id of a letter that a migration moves. It is kept whatever the quota, and under this id if that is free. */
  readonly movedId?: number;
}

interface Totals {
  count: number;
  /** Bytes that the letters with their messages take. */
  letters: number;
  records: number;
}

interface AddedDeadLetters {
  /** The id of each letter that was added; null where its bytes are not kept because the quota is used up. */
  readonly ids: readonly (number | null)[];
  /** The ids of letters whose bytes have given way to those. */
  readonly gaveWay: readonly number[];
  /** The number of records of Kafka's messages that were removed to make room for later ones. */
  readonly droppedRecords: number;
}

/** What was removed while letters were added. */
interface Removals {
  readonly gaveWay: number[];
  droppedRecords: number;
}

/**
 * The dead letters in a SQLite file of their own. A message is kept once, however often it is delivered. Where the quota is used up, the
 * oldest letters of the zone that holds most give way to those of another one, so that no sender takes the room of all. A thread uses the
 * table, because a commit waits for the disk.
 */
export class DeadLetterTable {
  readonly #database: DatabaseSync;
  readonly #quotaBytes: number;
  readonly #known: StatementSync;
  readonly #hasId: StatementSync;
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  readonly #reduce: StatementSync;
  readonly #shares: DeadLetterShares;
  readonly #total: Totals;

  /** Throws SQLite's error where the file cannot be used. */
  static open(file: string, quotaBytes: number): DeadLetterTable {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      return new DeadLetterTable(database, quotaBytes);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(database: DatabaseSync, quotaBytes: number) {
    this.#quotaBytes = quotaBytes;
    this.#database = database;
    this.#database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    this.#database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    this.#shares = inTransaction(this.#database, () => {
      this.#database.exec(SCHEMA);
      addColumn(this.#database, 'is_batch', 'INTEGER NOT NULL DEFAULT 0');
      addColumn(this.#database, 'item_index', 'INTEGER');
      addColumn(this.#database, 'mapping', 'TEXT');
      return new DeadLetterShares(this.#database);
    });
    this.#known = this.#database.prepare('SELECT id, record_only FROM dead_letters WHERE identity = ?');
    this.#hasId = this.#database.prepare('SELECT 1 FROM dead_letters WHERE id = ?');
    this.#insert = this.#database.prepare(
      `INSERT INTO dead_letters (
        id, identity, zone_id, record_only, cost, received_at, source, topic, partition, message_offset, is_batch, item_index,
        mapping, reason, size_bytes, sha256, bytes
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#remove = this.#database.prepare(`DELETE FROM dead_letters WHERE id = :id AND ${OF_ZONES} RETURNING record_only, cost`);
    this.#reduce = this.#database.prepare("UPDATE dead_letters SET record_only = 1, cost = ?, bytes = x'' WHERE id = ?");
    this.#total = this.#readTotals();
  }

  /** Adds letters, which are durable when this returns. */
  add(letters: readonly NewDeadLetter[]): AddedDeadLetters {
    const before = { ...this.#total };
    const removals: Removals = { gaveWay: [], droppedRecords: 0 };
    try {
      const ids = inTransaction(this.#database, () => letters.map((letter) => this.#addOne(letter, removals)));
      return { ids, ...removals };
    } catch (error) {
      Object.assign(this.#total, before);
      throw error;
    }
  }

  /** Lists letters by ascending id: at least one where there is one, and no more once they have `maxBytes`. */
  list(selection: DeadLetterSelection, maxBytes: number): StoredDeadLetter[] {
    const statement = this.#database.prepare(`SELECT * FROM dead_letters WHERE id = :id AND ${OF_ZONES}`);
    statement.setReadBigInts(true);
    const zones = zonesParameter(selection.zones);
    const letters: StoredDeadLetter[] = [];
    let listedBytes = 0;
    for (const id of this.#candidates(selection)) {
      const row = statement.get({ id, zones });
      if (row === undefined) {
        continue;
      }
      const letter = letterOf(row);
      letters.push(letter);
      listedBytes += letter.bytes.length + recordCostOf(letter);
      if (listedBytes >= maxBytes || letters.length === selection.limit) {
        break;
      }
    }
    return letters;
  }

  /** Removes the selected letters for good; returns how many there were. */
  remove(selection: DeadLetterSelection): number {
    return this.#delete(this.#candidates(selection), selection);
  }

  /** Removes up to `limit` letters that arrived before a time, Unix milliseconds; returns how many. */
  removeOlder(thanMs: number, limit: number): number {
    const rows = this.#database
      .prepare('SELECT id FROM dead_letters WHERE received_at < ? ORDER BY received_at LIMIT ?')
      .all(thanMs, limit);
    return this.#delete(
      rows.map(({ id }) => Number(id)),
      { zones: 'all', limit },
    );
  }

  /** The number of letters that arrived before a time, Unix milliseconds. */
  countOlder(thanMs: number): number {
    return Number(this.#database.prepare('SELECT count(*) AS letters FROM dead_letters WHERE received_at < ?').get(thanMs)?.['letters']);
  }

  count(): number {
    return this.#total.count;
  }

  close(): void {
    this.#database.close();
  }

  /** Ids that a selection may select, ascending. Named ones may be of any zone, or of no letter: the statement that acts decides. */
  #candidates({ ids, zones, afterId, limit }: DeadLetterSelection): number[] {
    const after = Number(afterId ?? 0);
    if (ids !== undefined) {
      const named = [...new Set(ids.map(Number))].filter((id) => id > after);
      return limit === 0 ? [] : named.sort((one, other) => one - other);
    }
    if (zones === 'all') {
      const rows = this.#database.prepare('SELECT id FROM dead_letters WHERE id > ? ORDER BY id LIMIT ?').all(after, limit);
      return rows.map(({ id }) => Number(id));
    }
    // A statement for each zone reads no more of its index than is asked for, however many letters other zones have.
    const ofZone = this.#database.prepare('SELECT id FROM dead_letters WHERE zone_id = ? AND id > ? ORDER BY id LIMIT ?');
    const found = zones.flatMap((zone) => ofZone.all(zone, after, limit).map(({ id }) => Number(id)));
    return found.sort((one, other) => one - other).slice(0, limit);
  }

  /** Removes up to `limit` of the letters with these ids that are of the zones. */
  #delete(ids: readonly number[], { zones: opened, limit }: Pick<DeadLetterSelection, 'zones' | 'limit'>): number {
    if (ids.length === 0) {
      return 0;
    }
    const zones = zonesParameter(opened);
    const removed = inTransaction(this.#database, () => {
      const rows: Record<string, unknown>[] = [];
      for (const id of ids) {
        const row = rows.length === limit ? undefined : this.#remove.get({ id, zones });
        if (row !== undefined) rows.push(row);
      }
      return rows;
    });
    for (const row of removed) {
      this.#subtract(row);
    }
    this.#database.exec('PRAGMA incremental_vacuum');
    return removed.length;
  }

  /** Returns the id of the letter; null where its bytes are not kept. */
  #addOne(letter: NewDeadLetter, removals: Removals): number | null {
    const { bytes, topic, zoneId, movedId } = letter;
    const sha256 = messageHashOf(letter);
    const identity = identityOf(letter, sha256);
    const found = this.#known.get(identity);
    if (found !== undefined) {
      return Number(found['record_only']) === 0 ? Number(found['id']) : null;
    }
    const recordCost = recordCostOf(letter);
    const cost = recordCost + bytes.length;
    if (movedId !== undefined || this.#makeRoom(cost, zoneId, removals)) {
      return this.#insertRow(letter, identity, sha256, { cost, recordOnly: false });
    }
    if (topic !== null) {
      this.#makeRoomForRecord(recordCost, removals);
      this.#insertRow(letter, identity, sha256, { cost: recordCost, recordOnly: true });
    }
    return null;
  }

  #insertRow(
    letter: NewDeadLetter,
    identity: Uint8Array,
    sha256: Uint8Array,
    row: { readonly cost: number; readonly recordOnly: boolean },
  ): number {
    const { bytes, reason, source, mapping = null, topic, partition, offset, index = null, zoneId, receivedAtMs, movedId } = letter;
    const sizeBytes = letter.cut?.sizeBytes ?? bytes.length;
    const kept = row.recordOnly ? NO_BYTES : bytes;
    const origin = [source, topic, partition, offset, letter.isBatch === true ? 1 : 0, index, mapping] as const;
    const isRecord = row.recordOnly ? 1 : 0;
    const id = movedId === undefined || this.#hasId.get(movedId) !== undefined ? null : movedId;
    const values = [id, identity, zoneId, isRecord, row.cost, receivedAtMs, ...origin, reason, sizeBytes, sha256, kept] as const;
    const { lastInsertRowid } = this.#insert.run(...values);
    this.#total[row.recordOnly ? 'records' : 'letters'] += row.cost;
    this.#total.count += 1;
    return Number(lastInsertRowid);
  }

  /**
   * Returns whether a letter of the zone has room, once the oldest letters of zones that hold more have given way. None gives way
   * unless that is enough. The caller has begun a transaction.
   */
  #makeRoom(cost: number, zoneId: number | null, removals: Removals): boolean {
    const lacking = this.#total.letters + cost - this.#quotaBytes;
    if (lacking > 0 && !this.#shares.canSpare(lacking, zoneId)) {
      return false;
    }
    while (this.#total.letters + cost > this.#quotaBytes) {
      const id = this.#shares.oldestOfLargest('letters');
      if (id === undefined) {
        throw new Error(`the shares of the dead letters lack ${this.#total.letters + cost - this.#quotaBytes} bytes`);
      }
      this.#giveWay(id, removals);
    }
    return true;
  }

  /** Removes the bytes of a letter. One from Kafka leaves a record. */
  #giveWay(id: number, removals: Removals): void {
    removals.gaveWay.push(id);
    const letter = this.#database.prepare('SELECT topic, cost, length(bytes) AS bytes FROM dead_letters WHERE id = ?').get(id);
    if (letter === undefined || letter['topic'] === null) {
      this.#removeRow(id);
      return;
    }
    const [cost, bytes] = [Number(letter['cost']), Number(letter['bytes'])];
    this.#makeRoomForRecord(cost - bytes, removals);
    this.#reduce.run(cost - bytes, id);
    this.#total.letters -= cost;
    this.#total.records += cost - bytes;
  }

  /** Removes the oldest records of the zone that has most of them, until a new one has room. The caller has begun a transaction. */
  #makeRoomForRecord(cost: number, removals: Removals): void {
    const room = this.#quotaBytes * RECORDS_SHARE;
    while (this.#total.records + cost > room) {
      const id = this.#shares.oldestOfLargest('records');
      if (id === undefined) {
        break;
      }
      this.#removeRow(id);
      removals.droppedRecords += 1;
    }
  }

  #removeRow(id: number): void {
    const row = this.#remove.get({ id, zones: null });
    if (row !== undefined) {
      this.#subtract(row);
    }
  }

  /** Takes a removed row off the totals. */
  #subtract(row: Record<string, unknown>): void {
    this.#total[Number(row['record_only']) === 1 ? 'records' : 'letters'] -= Number(row['cost']);
    this.#total.count -= 1;
  }

  /** Adds up all rows of the table, which takes long: it is called once. */
  #readTotals(): Totals {
    const statement = this.#database.prepare(
      'SELECT count(*) AS count, coalesce(sum(cost), 0) AS cost FROM dead_letters WHERE record_only = ?',
    );
    const [letters, records] = [statement.get(0), statement.get(1)];
    return {
      count: Number(letters?.['count']) + Number(records?.['count']),
      letters: Number(letters?.['cost']),
      records: Number(records?.['cost']),
    };
  }
}

/** Adds a column that files of earlier versions lack. */
function addColumn(database: DatabaseSync, name: string, definition: string): void {
  if (database.prepare("SELECT 1 FROM pragma_table_info('dead_letters') WHERE name = ?").get(name) !== undefined) return;
  database.exec(`ALTER TABLE dead_letters ADD COLUMN ${name} ${definition}`);
}

function letterOf(row: Record<string, unknown>): StoredDeadLetter {
  const number = (name: string) => (row[name] === null ? null : Number(row[name]));
  const bytes = row['bytes'] as Uint8Array;
  const sizeBytes = Number(row['size_bytes']);
  return {
    id: String(row['id']),
    receivedAtMs: Number(row['received_at']),
    source: String(row['source']),
    mapping: row['mapping'] as string | null,
    topic: row['topic'] as string | null,
    partition: number('partition'),
    offset: row['message_offset'] as bigint | null,
    index: number('item_index'),
    zoneId: number('zone_id'),
    reason: String(row['reason']),
    sizeBytes,
    sha256: Buffer.from(row['sha256'] as Uint8Array).toString('hex'),
    isWhole: Number(row['record_only']) === 0 && Number(row['is_batch']) === 0 && bytes.length === sizeBytes,
    bytes,
  };
}

import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DEAD_LETTER_FILE, JOURNAL_FOLDER } from '../../data-folder.ts';
import { setFileAside } from '../../set-aside.ts';
import { inTransaction, isDamage } from '../../sqlite-transaction.ts';
import { DeadLetterTable, deadLetterError, type NewDeadLetter } from './dead-letter-table.ts';

/** A step from one version of the data folder to the next. */
interface Migration {
  /** `PRAGMA user_version` of the catalog afterwards. */
  readonly to: number;
  /** Changes other files of the folder. It may be interrupted anywhere, and then runs again from its beginning. */
  readonly prepare: (catalog: DatabaseSync, folder: string) => void;
  /** Changes the catalog, in the transaction that also sets its version. */
  readonly change: string;
}

/** Folders of lower versions are refused. */
export const OLDEST_VERSION = 6;

/** The migrations by ascending version, without gaps. Parquet files are never rewritten: their columns keep their names. */
export const MIGRATIONS: readonly Migration[] = [
  {
    to: 7,
    prepare: moveDeadLetters,
    change: 'DROP TABLE IF EXISTS dead_letters',
  },
  {
    to: 8,
    prepare: removeSpareFiles,
    change: `
      ALTER TABLE bundles RENAME TO blob_files;
      ALTER TABLE positions RENAME TO source_offsets;
      ALTER TABLE forgotten RENAME TO expired_watermarks;
      UPDATE progress SET name = 'flushed_journal' WHERE name = 'sealed_journal';
      INSERT OR IGNORE INTO progress (name, value) VALUES ('event_fields_version', 1);
    `,
  },
  {
    to: 9,
    prepare: () => undefined,
    change: `
      ALTER TABLE segments ADD COLUMN blocks BLOB;
      ALTER TABLE segments ADD COLUMN damage TEXT;
      ALTER TABLE segments ADD COLUMN checksum INTEGER;
      ALTER TABLE blob_files ADD COLUMN index_crc32 INTEGER;
      ALTER TABLE blob_files ADD COLUMN damage TEXT;
      ALTER TABLE blob_files ADD COLUMN checksum INTEGER;
      ALTER TABLE source_offsets ADD COLUMN topic_id TEXT;
      CREATE TABLE epochs (
        number INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, first_sequence INTEGER NOT NULL, runs INTEGER NOT NULL
      ) STRICT;
      INSERT INTO epochs (epoch, first_sequence, runs) SELECT value, 1, 0 FROM progress WHERE name = 'store_id';
    `,
  },
  {
    // Keeps out earlier programs, which would replay two dead letters of one message as the same event: they know no index. Its column
    // comes with the next opening of the dead letters.
    to: 10,
    prepare: () => undefined,
    change: '',
  },
  {
    // Keeps out earlier programs, which would replay a record of another product as an event of our own form: they know no mapping.
    to: 11,
    prepare: () => undefined,
    change: '',
  },
];

/** So many dead letters are moved in one transaction. */
const MAX_MOVED_LETTERS = 500;
const MAX_MOVED_BYTES = 4 * 1024 * 1024;

/**
 * Moves dead letters that are kept in the catalog to the file of the dead letters. A letter is removed when it is durable there; one that
 * is moved twice is kept once. They are without their zone, so that only a key of all zones sees them.
 */
function moveDeadLetters(catalog: DatabaseSync, folder: string): void {
  if (catalog.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'dead_letters'").get() === undefined) {
    return;
  }
  const file = join(folder, DEAD_LETTER_FILE);
  let table: DeadLetterTable | undefined;
  try {
    for (let letters = firstLetters(catalog); letters.length > 0; letters = firstLetters(catalog)) {
      table ??= openTable(file);
      table.add(letters);
      const statement = catalog.prepare('DELETE FROM dead_letters WHERE id = ?');
      inTransaction(catalog, () => {
        for (const { movedId } of letters) {
          statement.run(movedId);
        }
      });
    }
  } catch (error) {
    throw deadLetterError(file, error);
  } finally {
    table?.close();
  }
}

/** A damaged file is set aside, and a new one begun. */
function openTable(file: string): DeadLetterTable {
  try {
    return DeadLetterTable.open(file, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!isDamage(error)) {
      throw error;
    }
    setFileAside(file);
    return DeadLetterTable.open(file, Number.POSITIVE_INFINITY);
  }
}

type MovedDeadLetter = NewDeadLetter & { readonly movedId: number };

/** Returns dead letters with the lowest ids, at least one if there is any. */
function firstLetters(catalog: DatabaseSync): MovedDeadLetter[] {
  const statement = catalog.prepare('SELECT * FROM dead_letters ORDER BY id LIMIT ?');
  statement.setReadBigInts(true);
  const letters: MovedDeadLetter[] = [];
  let bytes = 0;
  for (const row of statement.iterate(MAX_MOVED_LETTERS)) {
    const letter = letterOf(row);
    letters.push(letter);
    bytes += letter.bytes.length;
    if (bytes >= MAX_MOVED_BYTES) {
      break;
    }
  }
  return letters;
}

function letterOf(row: Record<string, unknown>): MovedDeadLetter {
  return {
    movedId: Number(row['id']),
    bytes: row['bytes'] as Uint8Array,
    cut: null,
    reason: String(row['reason']),
    source: String(row['source']),
    topic: row['topic'] as string | null,
    partition: row['partition'] === null ? null : Number(row['partition']),
    offset: row['message_offset'] as bigint | null,
    zoneId: null,
    receivedAtMs: Number(row['received_at']),
  };
}

/** Removes recycled journal files under the name that they had before. They hold nothing that is needed. */
function removeSpareFiles(_: DatabaseSync, folder: string): void {
  const journals = join(folder, JOURNAL_FOLDER);
  for (const name of readdirSync(journals).filter((one) => one.startsWith('spare-'))) {
    unlinkSync(join(journals, name));
  }
}

import type { DatabaseSync } from 'node:sqlite';
import { bigintRows, inTransaction } from '../../sqlite-transaction.ts';
import type { Journal } from './journal.ts';

/** A journal in the catalog none of whose events is new. */
export type EmptyJournal = Pick<Journal, 'number' | 'firstSequence' | 'eventCount' | 'expiredCount' | 'ingestedAtMs'>;

/** Carries out changes of the catalog in one transaction. */
type CatalogChanges = (work: () => void) => void;

/** Older catalogs do not have the table. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS empty_journals (
    number INTEGER PRIMARY KEY, first_sequence INTEGER NOT NULL, event_count INTEGER NOT NULL, expired_count INTEGER NOT NULL,
    ingested_at INTEGER NOT NULL
  ) STRICT;
`;

/** Whether the catalog has the table. A new one has not where its process was killed before it made it. */
export function hasEmptyJournals(catalog: DatabaseSync): boolean {
  return catalog.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'empty_journals'").get() !== undefined;
}

/**
 * The journals in the catalog that need no files, because their events are stored already or there are none. A row reserves the number and
 * the sequences of its journal, and keeps its counts, until the journals around it are in published segments.
 */
export class EmptyJournalTable {
  readonly #database: DatabaseSync;
  readonly #change: CatalogChanges;

  constructor(database: DatabaseSync, change: CatalogChanges = (work) => inTransaction(database, work)) {
    this.#database = database;
    this.#change = change;
    database.exec(SCHEMA);
  }

  /** The numbers of all rows, in no order. */
  numbers(): number[] {
    const rows = this.#database.prepare('SELECT number FROM empty_journals').all();
    return rows.map(({ number }) => Number(number));
  }

  /** The journal with this number; undefined where it has no row. */
  get(number: number): EmptyJournal | undefined {
    const [row] = bigintRows(this.#database, 'SELECT * FROM empty_journals WHERE number = ?', number);
    return (
      row && {
        number,
        firstSequence: row['first_sequence'] as bigint,
        eventCount: Number(row['event_count']),
        expiredCount: Number(row['expired_count']),
        ingestedAtMs: Number(row['ingested_at']),
      }
    );
  }

  /** Adds a journal, which is durable when this returns. */
  add(journal: EmptyJournal): void {
    this.#change(() => this.insert(journal));
  }

  /** Adds the row of a journal. The caller has begun a transaction. */
  insert({ number, firstSequence, eventCount, expiredCount, ingestedAtMs }: EmptyJournal): void {
    const statement = this.#database.prepare(
      'INSERT INTO empty_journals (number, first_sequence, event_count, expired_count, ingested_at) VALUES (?, ?, ?, ?, ?)',
    );
    statement.run(number, firstSequence, eventCount, expiredCount, ingestedAtMs);
  }

  /** Removes the rows of journals. Most journals have none, and then nothing changes. */
  remove(numbers: readonly number[]): void {
    const row = this.#database.prepare('SELECT 1 FROM empty_journals WHERE number = ?');
    const stored = numbers.filter((number) => row.get(number) !== undefined);
    if (stored.length === 0) {
      return;
    }
    const statement = this.#database.prepare('DELETE FROM empty_journals WHERE number = ?');
    this.#change(() => {
      for (const number of stored) {
        statement.run(number);
      }
    });
  }
}

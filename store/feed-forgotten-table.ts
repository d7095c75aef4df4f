import type { DatabaseSync } from 'node:sqlite';
import type { ForgottenEvents } from './feed-forgotten.ts';

export const FORGOTTEN_SCHEMA = `
  CREATE TABLE forgotten (
    zone_id INTEGER NOT NULL, run INTEGER NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (zone_id, run)
  ) STRICT, WITHOUT ROWID;
`;

/** What the retention dropped, in the catalog: a row or two for every zone that ever lost an event. */
export class ForgottenTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  list(): ForgottenEvents[] {
    const statement = this.#database.prepare('SELECT zone_id, run, sequence FROM forgotten ORDER BY run');
    statement.setReadBigInts(true);
    return statement.all().map((row) => ({
      zoneId: Number(row['zone_id']),
      run: Number(row['run']),
      sequence: row['sequence'] as bigint,
    }));
  }

  /** To be called in a transaction: the one that drops the events. */
  add(events: readonly ForgottenEvents[]): void {
    const forget = this.#database.prepare('DELETE FROM forgotten WHERE zone_id = ? AND sequence <= ?');
    const insert = this.#database.prepare('INSERT INTO forgotten (zone_id, run, sequence) VALUES (?, ?, ?)');
    for (const { zoneId, run, sequence } of events) {
      forget.run(zoneId, sequence);
      insert.run(zoneId, run, sequence);
    }
  }
}

import type { DatabaseSync } from 'node:sqlite';
import type { ExpiredWatermark } from './expired-watermarks.ts';

export const EXPIRED_WATERMARK_SCHEMA = `
  -- On disk the table keeps an old name.
  CREATE TABLE forgotten (
    zone_id INTEGER NOT NULL, run INTEGER NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (zone_id, run)
  ) STRICT, WITHOUT ROWID;
`;

/** The expired watermarks in the catalog: a row or two for every zone that ever lost an event. */
export class ExpiredWatermarkTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  list(): ExpiredWatermark[] {
    const statement = this.#database.prepare('SELECT zone_id, run, sequence FROM forgotten ORDER BY run');
    statement.setReadBigInts(true);
    return statement.all().map((row) => ({
      zoneId: Number(row['zone_id']),
      run: Number(row['run']),
      sequence: row['sequence'] as bigint,
    }));
  }

  /** To be called in a transaction: the one that drops the events. */
  add(events: readonly ExpiredWatermark[]): void {
    const forget = this.#database.prepare('DELETE FROM forgotten WHERE zone_id = ? AND sequence <= ?');
    const insert = this.#database.prepare('INSERT INTO forgotten (zone_id, run, sequence) VALUES (?, ?, ?)');
    for (const { zoneId, run, sequence } of events) {
      forget.run(zoneId, sequence);
      insert.run(zoneId, run, sequence);
    }
  }
}

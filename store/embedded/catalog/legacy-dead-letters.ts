import type { DatabaseSync } from 'node:sqlite';
import type { NewDeadLetter } from './dead-letter-table.ts';

/** The dead letters that earlier versions kept in the catalog, without their zone: only a key of all zones sees them. */
export class LegacyDeadLetters {
  readonly #database: DatabaseSync;
  readonly #isThere: boolean;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'dead_letters'").get() !== undefined;
  }

  /** The one with the lowest id; undefined where there is none. */
  first(): (NewDeadLetter & { readonly movedId: number }) | undefined {
    if (!this.#isThere) {
      return undefined;
    }
    const statement = this.#database.prepare('SELECT * FROM dead_letters ORDER BY id LIMIT 1');
    statement.setReadBigInts(true);
    const row = statement.get();
    return (
      row && {
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
      }
    );
  }

  /** To be called when the letter is durable elsewhere. */
  remove(id: number): void {
    this.#database.prepare('DELETE FROM dead_letters WHERE id = ?').run(id);
  }
}

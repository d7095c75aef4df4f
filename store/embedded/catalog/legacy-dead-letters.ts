import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../runtime/sqlite-transaction.ts';
import type { NewDeadLetter } from './dead-letter-table.ts';

type MovedDeadLetter = NewDeadLetter & { readonly movedId: number };

/** The dead letters that earlier versions kept in the catalog, without their zone: only a key of all zones sees them. */
export class LegacyDeadLetters {
  readonly #database: DatabaseSync;
  readonly #isThere: boolean;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'dead_letters'").get() !== undefined;
  }

  /** Those with the lowest ids: up to `limit`, and no more once they have `maxBytes`; none where there are no more. */
  first(limit: number, maxBytes: number): MovedDeadLetter[] {
    if (!this.#isThere) {
      return [];
    }
    const statement = this.#database.prepare('SELECT * FROM dead_letters ORDER BY id LIMIT ?');
    statement.setReadBigInts(true);
    const letters: MovedDeadLetter[] = [];
    let bytes = 0;
    for (const row of statement.iterate(limit)) {
      const letter = letterOf(row);
      letters.push(letter);
      bytes += letter.bytes.length;
      if (bytes >= maxBytes) {
        break;
      }
    }
    return letters;
  }

  /** To be called when the letters are durable elsewhere. */
  remove(letters: readonly MovedDeadLetter[]): void {
    const statement = this.#database.prepare('DELETE FROM dead_letters WHERE id = ?');
    inTransaction(this.#database, () => {
      for (const { movedId } of letters) {
        statement.run(movedId);
      }
    });
  }
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

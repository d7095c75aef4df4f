import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { DeadLetter, StoredDeadLetter } from './event-store.ts';
import { inTransaction } from './sqlite-transaction.ts';

/** The dead letters in the catalog. One message is kept once, however often it is delivered. */
export class DeadLetterTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Durable when it returns. */
  add(letters: readonly DeadLetter[], receivedAtMs: number): void {
    if (letters.length === 0) {
      return;
    }
    const insert = this.#database.prepare(
      'INSERT OR IGNORE INTO dead_letters (identity, bytes, reason, source, topic, partition, message_offset, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    inTransaction(this.#database, () => {
      for (const letter of letters) {
        const { bytes, reason, source, topic, partition, offset } = letter;
        insert.run(identityOf(letter), bytes, reason, source, topic, partition, offset, receivedAtMs);
      }
    });
  }

  /** Oldest first. */
  list({ afterId = 0, limit }: { readonly afterId?: number; readonly limit: number }): StoredDeadLetter[] {
    const statement = this.#database.prepare('SELECT * FROM dead_letters WHERE id > ? ORDER BY id LIMIT ?');
    statement.setReadBigInts(true);
    return statement.all(afterId, limit).map((row) => ({
      id: Number(row['id']),
      bytes: row['bytes'] as Uint8Array,
      reason: String(row['reason']),
      source: String(row['source']),
      topic: row['topic'] as string | null,
      partition: row['partition'] === null ? null : Number(row['partition']),
      offset: row['message_offset'] as bigint | null,
      receivedAtMs: Number(row['received_at']),
    }));
  }

  remove(ids: readonly number[]): void {
    const statement = this.#database.prepare('DELETE FROM dead_letters WHERE id = ?');
    inTransaction(this.#database, () => {
      for (const id of ids) {
        statement.run(id);
      }
    });
  }

  count(): number {
    return Number(this.#database.prepare('SELECT count(*) AS letters FROM dead_letters').get()?.['letters']);
  }
}

/** A Kafka message is known by its place together with its bytes (a topic may be deleted and made again); others by their bytes. */
function identityOf({ source, topic, partition, offset, bytes }: DeadLetter): string {
  const digest = createHash('sha256').update(bytes).digest('hex');
  return topic === null ? `${source} ${digest}` : `${source} ${topic}-${partition}-${offset} ${digest}`;
}

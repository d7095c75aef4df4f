import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { canSpare, type LetterKind } from '../../dead-letter-shares.ts';

/** Stands for the letters without a zone, which count as those of one. Zones have 32 bits, so none has this number. */
const NO_ZONE = 2 ** 32;

const added = (row: 'new' | 'old') => `
  INSERT INTO dead_letter_shares VALUES (${row}.record_only, ifnull(${row}.zone_id, ${NO_ZONE}), ${row}.cost)
    ON CONFLICT DO UPDATE SET cost = cost + excluded.cost;`;
const removed = (row: 'new' | 'old') => `
  UPDATE dead_letter_shares SET cost = cost - ${row}.cost
    WHERE record_only = ${row}.record_only AND zone = ifnull(${row}.zone_id, ${NO_ZONE});
  DELETE FROM dead_letter_shares WHERE record_only = ${row}.record_only AND zone = ifnull(${row}.zone_id, ${NO_ZONE}) AND cost <= 0;`;

// Triggers keep the sums, so that they are right also where an earlier version of the program has written letters meanwhile.
const SCHEMA = `
  CREATE TABLE dead_letter_shares (
    record_only INTEGER NOT NULL, zone INTEGER NOT NULL, cost INTEGER NOT NULL, PRIMARY KEY (record_only, zone)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dead_letter_shares_by_cost ON dead_letter_shares (record_only, cost);
  CREATE INDEX dead_letters_by_share ON dead_letters (record_only, zone_id, id);
  CREATE TRIGGER dead_letter_added AFTER INSERT ON dead_letters BEGIN ${added('new')} END;
  CREATE TRIGGER dead_letter_changed AFTER UPDATE OF record_only, cost ON dead_letters BEGIN ${removed('old')} ${added('new')} END;
  CREATE TRIGGER dead_letter_removed AFTER DELETE ON dead_letters BEGIN ${removed('old')} END;
  INSERT INTO dead_letter_shares
    SELECT record_only, ifnull(zone_id, ${NO_ZONE}), sum(cost) FROM dead_letters GROUP BY record_only, zone_id;
`;

const recordOnly = (kind: LetterKind): number => (kind === 'records' ? 1 : 0);

/** Who holds how much of the quota of the dead letters: the bytes of each zone, letters and records apart. */
export class DeadLetterShares {
  readonly #ofZone: StatementSync;
  readonly #larger: StatementSync;
  readonly #largest: StatementSync;
  readonly #oldest: StatementSync;

  /** Adds the table of the shares where there is none. The caller has begun a transaction. */
  constructor(database: DatabaseSync) {
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'dead_letter_shares'").get();
    if (isThere === undefined) {
      database.exec(SCHEMA);
    }
    this.#ofZone = database.prepare('SELECT cost FROM dead_letter_shares WHERE record_only = 0 AND zone = ?');
    this.#larger = database.prepare('SELECT cost FROM dead_letter_shares WHERE record_only = 0 AND cost > ? ORDER BY cost DESC');
    this.#largest = database.prepare('SELECT zone FROM dead_letter_shares WHERE record_only = ? ORDER BY cost DESC LIMIT 1');
    this.#oldest = database.prepare('SELECT id FROM dead_letters WHERE record_only = ? AND zone_id IS ? ORDER BY id LIMIT 1');
  }

  /** Returns whether zones that hold more than this one give way by so many bytes before they hold no more than it. */
  canSpare(bytes: number, zoneId: number | null): boolean {
    const own = Number(this.#ofZone.get(zoneId ?? NO_ZONE)?.['cost'] ?? 0);
    return canSpare(bytes, own, this.#costsAbove(own));
  }

  *#costsAbove(own: number): Generator<number> {
    for (const { cost } of this.#larger.iterate(own)) {
      yield Number(cost);
    }
  }

  /** The id of the oldest of the zone that holds most; undefined where there is none. */
  oldestOfLargest(kind: LetterKind): number | undefined {
    const zone = this.#largest.get(recordOnly(kind))?.['zone'];
    if (zone === undefined) {
      return undefined;
    }
    const row = this.#oldest.get(recordOnly(kind), Number(zone) === NO_ZONE ? null : Number(zone));
    return row === undefined ? undefined : Number(row['id']);
  }
}

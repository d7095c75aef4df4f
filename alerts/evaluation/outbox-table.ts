import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { GiveUpOptions, ListedDelivery, OutboxMessage, Outcome, QueueTotals, ToldRule, WaitingMessages } from './outbox.ts';

/** So many messages of a queue that were delivered, and as many that were not, are kept to be looked at. */
const KEPT_OUTCOMES = 100;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, rule TEXT NOT NULL, version TEXT NOT NULL, alert_id TEXT NOT NULL,
    state TEXT NOT NULL, message TEXT NOT NULL, queued_at_ms INTEGER NOT NULL, outcome TEXT,
    UNIQUE (queue, alert_id, state)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS outbox_waiting ON outbox (queue, rule, version, seq) WHERE outcome IS NULL;
  CREATE TABLE IF NOT EXISTS queues (
    queue TEXT PRIMARY KEY, delivered INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, given_up INTEGER NOT NULL DEFAULT 0
  ) STRICT;
`;

/** A message without what the outbox gives it. */
export type NewMessage = Omit<OutboxMessage, 'seq'>;

interface Settled {
  readonly seq: number;
  readonly queue: string;
}

/** The messages about alerts in the tables of the state. A message is in a queue once, so that none that is counted again is sent again. */
export class OutboxTable {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;

  /** Makes the tables where they are missing. */
  constructor(database: DatabaseSync) {
    database.exec(SCHEMA);
    this.#database = database;
    this.#add = database.prepare(
      `INSERT INTO outbox (queue, rule, version, alert_id, state, message, queued_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
  }

  add(queues: readonly string[], message: NewMessage): void {
    const { rule, alert, state, queuedAtMs, ...more } = message;
    for (const queue of queues) {
      this.#add.run(queue, rule.name, rule.version, alert.id, state, JSON.stringify({ rule, alert, state, ...more }), queuedAtMs);
    }
  }

  waiting(queue: string, { limit, except }: { readonly limit: number; readonly except: readonly string[] }): WaitingMessages | null {
    const oldest = this.#database
      .prepare(
        `SELECT rule AS name, version FROM outbox
         WHERE outcome IS NULL AND queue = ? AND rule NOT IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT 1`,
      )
      .get(queue, JSON.stringify(except)) as Pick<ToldRule, 'name' | 'version'> | undefined;
    if (oldest === undefined) return null;
    const ofRule = 'FROM outbox WHERE outcome IS NULL AND queue = ? AND rule = ? AND version = ?';
    const { name, version } = oldest;
    const all = this.#database.prepare(`SELECT count(*) AS total, max(seq) AS lastSeq ${ofRule}`).get(queue, name, version);
    const rows = this.#database
      .prepare(`SELECT seq, message, queued_at_ms AS queuedAtMs ${ofRule} ORDER BY seq LIMIT ?`)
      .all(queue, name, version, limit) as unknown as readonly { seq: number; message: string; queuedAtMs: number }[];
    const messages = rows.map(({ message, ...row }): OutboxMessage => ({ ...JSON.parse(message), ...row }));
    return { messages, ...(all as unknown as Pick<WaitingMessages, 'total' | 'lastSeq'>) };
  }

  settle(queue: string, { name, version }: Pick<ToldRule, 'name' | 'version'>, upToSeq: number, outcome: Outcome): void {
    const settled = this.#database
      .prepare(
        `UPDATE outbox SET outcome = ? WHERE outcome IS NULL AND queue = ? AND rule = ? AND version = ? AND seq <= ? RETURNING seq, queue`,
      )
      .all(JSON.stringify(outcome), queue, name, version, upToSeq);
    this.#count(settled as unknown as readonly Settled[], outcome);
  }

  giveUp({ queues: known, queuedBeforeMs, most, atMs }: GiveUpOptions): number {
    const queues = this.#database.prepare('SELECT DISTINCT queue FROM outbox WHERE outcome IS NULL').all();
    let count = 0;
    for (const { queue } of queues) {
      const unknown: Outcome = { kind: 'given_up', atMs, answer: 'there is no receiver of this name any more' };
      const tooOld: Outcome = { kind: 'given_up', atMs, answer: 'it had waited for too long' };
      const tooMany: Outcome = { kind: 'given_up', atMs, answer: `more than ${most} messages waited` };
      const beyond = 'SELECT seq FROM outbox WHERE outcome IS NULL AND queue = ? ORDER BY seq DESC LIMIT -1 OFFSET ?';
      const give = (outcome: Outcome, which: string, ...values: readonly (string | number)[]): number => {
        const update = `UPDATE outbox SET outcome = ? WHERE outcome IS NULL AND queue = ? AND ${which} RETURNING seq, queue`;
        const given = this.#database.prepare(update).all(JSON.stringify(outcome), String(queue), ...values);
        this.#count(given as unknown as readonly Settled[], outcome);
        return given.length;
      };
      if (!known.includes(String(queue))) count += give(unknown, 'TRUE');
      count += give(tooOld, 'queued_at_ms < ?', queuedBeforeMs) + give(tooMany, `seq IN (${beyond})`, String(queue), most);
    }
    return count;
  }

  totals(): readonly QueueTotals[] {
    const rows = this.#database
      .prepare(
        `SELECT queue, count(seq) FILTER (WHERE outcome IS NULL) AS waiting, coalesce(delivered, 0) AS delivered,
           coalesce(refused, 0) AS refused, coalesce(given_up, 0) AS givenUp
         FROM (SELECT queue FROM queues UNION SELECT queue FROM outbox) LEFT JOIN queues USING (queue) LEFT JOIN outbox USING (queue)
         GROUP BY queue ORDER BY queue`,
      )
      .all();
    return rows as unknown as readonly QueueTotals[];
  }

  /** The messages that wait or were not delivered, and then those that were, of each the newest first. */
  latest(limit: number): readonly ListedDelivery[] {
    const rows = this.#database
      .prepare(
        "SELECT queue, seq, alert_id, state, message, outcome FROM outbox ORDER BY outcome ->> 'kind' IS 'delivered', seq DESC LIMIT ?",
      )
      .all(limit);
    return rows.map(({ alert_id, message, outcome, ...row }) => {
      const { rule } = JSON.parse(String(message)) as OutboxMessage;
      return { ...(row as unknown as ListedDelivery), alertId: String(alert_id), rule, outcome: JSON.parse(String(outcome)) };
    });
  }

  /** Counts messages that wait no longer, and keeps the last ones of those that were delivered, and of those that were not. */
  #count(settled: readonly Settled[], { kind }: Outcome): void {
    for (const queue of new Set(settled.map((one) => one.queue))) {
      const count = settled.filter((one) => one.queue === queue).length;
      this.#database
        .prepare(`INSERT INTO queues (queue, ${kind}) VALUES (?, ?) ON CONFLICT DO UPDATE SET ${kind} = ${kind} + excluded.${kind}`)
        .run(queue, count);
      const alike = `queue = ? AND outcome IS NOT NULL AND (outcome ->> 'kind' = 'delivered') = ?`;
      const isDelivered = Number(kind === 'delivered');
      this.#database
        .prepare(`DELETE FROM outbox WHERE ${alike} AND seq NOT IN (SELECT seq FROM outbox WHERE ${alike} ORDER BY seq DESC LIMIT ?)`)
        .run(queue, isDelivered, queue, isDelivered, KEPT_OUTCOMES);
    }
  }
}

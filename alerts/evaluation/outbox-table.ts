import { readMessage, readOutcome } from './kept-text.ts';
import {
  type GiveUpOptions,
  type ListedDelivery,
  type NewMessage,
  type OutboxMessage,
  type Outcome,
  sharingZones,
  type ToldRule,
  type WaitingMessages,
} from './outbox.ts';
import type { PreparedSql } from './prepared-sql.ts';

/** So many messages of a queue that were delivered, and as many that were not, are kept to be looked at. */
const KEPT_OUTCOMES = 100;

export const OUTBOX_SCHEMA = `
  CREATE TABLE IF NOT EXISTS outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, rule TEXT NOT NULL, version TEXT NOT NULL, alert_id TEXT NOT NULL,
    state TEXT NOT NULL, message TEXT NOT NULL, queued_at_ms INTEGER NOT NULL, outcome TEXT,
    UNIQUE (queue, alert_id, state)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS outbox_waiting ON outbox (queue, rule, version, seq) WHERE outcome IS NULL;
`;

type Row = Readonly<Record<string, unknown>>;

/** The messages about alerts in the table of the state. A message is in a queue once, so that none that is counted again is sent again. */
export class OutboxTable {
  readonly #sql: PreparedSql;

  /** Of a database that has `OUTBOX_SCHEMA`. */
  constructor(sql: PreparedSql) {
    this.#sql = sql;
  }

  add(queues: readonly string[], { queuedAtMs, ...message }: NewMessage): void {
    const { rule, alert, state } = message;
    for (const queue of queues) {
      this.#sql.run`INSERT INTO outbox (queue, rule, version, alert_id, state, message, queued_at_ms)
        VALUES (${queue}, ${rule.name}, ${rule.version}, ${alert.id}, ${state}, ${JSON.stringify(message)}, ${queuedAtMs})
        ON CONFLICT DO NOTHING`;
    }
  }

  waiting(queue: string, { limit, except }: { readonly limit: number; readonly except: readonly string[] }): WaitingMessages | null {
    const oldest = this.#sql.get`SELECT rule AS name, version FROM outbox WHERE outcome IS NULL AND queue = ${queue}
      AND rule NOT IN (SELECT value FROM json_each(${JSON.stringify(except)})) ORDER BY seq LIMIT 1`;
    if (oldest === undefined) return null;
    const { name, version } = oldest as unknown as Pick<ToldRule, 'name' | 'version'>;
    const all = this.#sql.get`SELECT count(*) AS total, max(seq) AS lastSeq FROM outbox
      WHERE outcome IS NULL AND queue = ${queue} AND rule = ${name} AND version = ${version}`;
    const rows = this.#sql.all`SELECT seq, message, queued_at_ms AS queuedAtMs FROM outbox
      WHERE outcome IS NULL AND queue = ${queue} AND rule = ${name} AND version = ${version} ORDER BY seq LIMIT ${limit}`;
    const messages = rows.map(({ message, ...row }) => ({ ...readMessage(message), ...row }) as OutboxMessage);
    return { messages, ...(all as unknown as Pick<WaitingMessages, 'total' | 'lastSeq'>) };
  }

  settle(queue: string, { name, version }: Pick<ToldRule, 'name' | 'version'>, upToSeq: number, outcome: Outcome): void {
    const settled = this.#sql.all`SELECT seq FROM outbox
      WHERE outcome IS NULL AND queue = ${queue} AND rule = ${name} AND version = ${version} AND seq <= ${upToSeq}`;
    this.#end(queue, settled, outcome);
  }

  giveUp({ queues, queuedBeforeMs, most, atMs }: GiveUpOptions): number {
    let count = 0;
    const end = (queue: string, rows: readonly Row[], answer: string) => {
      this.#end(queue, rows, { kind: 'given_up', atMs, answer });
      count += rows.length;
    };
    for (const row of this.#sql.all`SELECT DISTINCT queue FROM outbox WHERE outcome IS NULL`) {
      const queue = String(row['queue']);
      const waiting = this.#sql.all`SELECT seq, queued_at_ms FROM outbox WHERE outcome IS NULL AND queue = ${queue} ORDER BY seq DESC`;
      if (!queues.includes(queue)) {
        end(queue, waiting, 'there is no receiver of this name any more');
        continue;
      }
      const isOld = (one: Row) => Number(one['queued_at_ms']) < queuedBeforeMs;
      end(queue, waiting.filter(isOld), 'it had waited for too long');
      end(queue, waiting.filter((one) => !isOld(one)).slice(most), `more than ${most} messages waited`);
    }
    return count;
  }

  /** The messages that wait or were not delivered, and then those that were, of each the newest first. */
  latest(limit: number): readonly ListedDelivery[] {
    const shared = sharingZones();
    const rows = this.#sql.iterate`SELECT queue, seq, alert_id, state, message, outcome FROM outbox
      ORDER BY outcome ->> 'kind' IS 'delivered', seq DESC LIMIT ${limit}`;
    return Array.from(rows, ({ alert_id, message, outcome, ...row }) => {
      const rule = shared(readMessage(message).rule);
      return { ...(row as unknown as ListedDelivery), alertId: String(alert_id), rule, outcome: readOutcome(outcome) };
    });
  }

  /** Messages of a queue, of which `rows` have the numbers, wait no longer. The last ones of each kind, delivered or not, are kept. */
  #end(queue: string, rows: readonly Row[], outcome: Outcome): void {
    const [ended, isDelivered] = [JSON.stringify(rows.map(({ seq }) => seq)), Number(outcome.kind === 'delivered')];
    this.#sql.run`UPDATE outbox SET outcome = ${JSON.stringify(outcome)} WHERE seq IN (SELECT value FROM json_each(${ended}))`;
    this.#sql.run`DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox
      WHERE queue = ${queue} AND outcome IS NOT NULL AND (outcome ->> 'kind' = 'delivered') = ${isDelivered}
      ORDER BY seq DESC LIMIT -1 OFFSET ${KEPT_OUTCOMES})`;
  }
}

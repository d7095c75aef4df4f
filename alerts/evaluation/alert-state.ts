import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { getSystemErrorMessage } from 'node:util';
import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { inTransaction } from '../../store/sqlite-transaction.ts';
import type { Alert } from '../alert-book.ts';
import type { FoldChanges, FoldState } from '../fold-state.ts';
import type { EarlyEnd, ToldRule } from './outbox.ts';
import { OutboxTable } from './outbox-table.ts';

/** The name of the file in DATA_DIR. */
export const ALERT_STATE_FILE = 'alerts.sqlite';

/** The file of the state cannot be used, because of the disk, its rights, or another program. The message names no folder. */
export class AlertStateError extends Error {
  override readonly name = 'AlertStateError';
}

/** A file beside that of the state says that there was one. */
const KEPT_MARK = 'alerts-kept';

function markOf(file: string): string {
  return join(dirname(file), KEPT_MARK);
}

/** Whether there was a state of alerts, and its file is gone. */
export function isStateLost(file: string): boolean {
  return existsSync(markOf(file)) && !existsSync(file);
}

/** Has the next start know that there was a state. Throws AlertStateError. */
export function markKept(file: string): void {
  if (existsSync(markOf(file))) return;
  try {
    writeFileSync(markOf(file), '');
  } catch (error) {
    throw new AlertStateError(`the file ${KEPT_MARK} beside ${ALERT_STATE_FILE} cannot be written: ${systemMessage(error)}`);
  }
}

/** What the system says of a file. Throws what it does not say. */
export function systemMessage(error: unknown): string {
  const { errno } = error as NodeJS.ErrnoException;
  if (errno === undefined) throw error;
  return getSystemErrorMessage(errno);
}

/** The form of the tables. A program refuses a file of a later one. */
const FORM = 1;
const WAL_LIMIT_BYTES = 16 * 1024 * 1024;
/** A connection waits this long for another one's lock, such as that of a backup, or of an earlier thread that is ending. */
const BUSY_TIMEOUT_MS = 5_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 0), cursor TEXT, complete_to_ms INTEGER NOT NULL, told INTEGER NOT NULL, refusals TEXT NOT NULL
  ) STRICT;
  INSERT OR IGNORE INTO progress VALUES (0, NULL, 0, 0, '{}');
  CREATE TABLE IF NOT EXISTS rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, version TEXT NOT NULL, file TEXT NOT NULL, text TEXT NOT NULL,
    begun_at_ms INTEGER, cursor TEXT, has_joined INTEGER NOT NULL DEFAULT 0, unreadable INTEGER NOT NULL DEFAULT 0,
    facts TEXT, closed TEXT NOT NULL DEFAULT '[]'
  ) STRICT;
  CREATE TABLE IF NOT EXISTS windows (
    rule_id INTEGER NOT NULL, begin_ms INTEGER NOT NULL, closes_at_ms INTEGER NOT NULL, decide_at_ms INTEGER, is_cut INTEGER NOT NULL,
    PRIMARY KEY (rule_id, begin_ms)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS entries (
    rule_id INTEGER NOT NULL, window_ms INTEGER NOT NULL, group_key TEXT NOT NULL, count INTEGER NOT NULL, part INTEGER NOT NULL,
    may_hit INTEGER NOT NULL, PRIMARY KEY (rule_id, window_ms, group_key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS "values" (
    rule_id INTEGER NOT NULL, window_ms INTEGER NOT NULL, group_key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (rule_id, window_ms, group_key, value)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS remembered (
    rule_id INTEGER NOT NULL, group_key TEXT NOT NULL, last_ms INTEGER NOT NULL, PRIMARY KEY (rule_id, group_key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS alerts (
    rule_id INTEGER NOT NULL, nth INTEGER NOT NULL, id TEXT NOT NULL, rule TEXT NOT NULL, from_ms INTEGER NOT NULL,
    is_open INTEGER NOT NULL, alert TEXT NOT NULL, told TEXT, early_end TEXT, PRIMARY KEY (rule_id, nth)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS alerts_by_id ON alerts (id);
  CREATE INDEX IF NOT EXISTS alerts_by_time ON alerts (from_ms);
  CREATE INDEX IF NOT EXISTS open_alerts ON alerts (rule_id) WHERE is_open = 1;
  CREATE TABLE IF NOT EXISTS silences (
    id INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL, zones TEXT NOT NULL, group_values TEXT NOT NULL,
    from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL,
    reason TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS silences_by_rule ON silences (rule);
`;

/** The tables with what a fold knows of a rule, which goes where the rule begins anew. */
const FOLD_TABLES = ['windows', 'entries', '"values"', 'remembered'] as const;

/** Why a cursor was refused. */
export type CursorRefusal =
  /** The store has lost its last events, and knows which the reader has: it goes on there. */
  | 'ahead'
  /** The store is another one, or an older copy: rules begin as new ones. */
  | 'unknown'
  /** Events behind the cursor are past the retention. */
  | 'expired';

/** Why rules could not go on from what was kept: a cursor was refused, or the file of the state was damaged and set aside, or lost. */
export const REFUSALS = ['ahead', 'unknown', 'expired', 'damaged', 'lost'] as const satisfies readonly (
  | CursorRefusal
  | 'damaged'
  | 'lost'
)[];

export type Refusal = (typeof REFUSALS)[number];

/** How often there was each, and which was the last one. */
export interface RefusalCounts extends Readonly<Partial<Record<Refusal, number>>> {
  readonly last?: Refusal;
}

export interface EvaluationProgress {
  /** How far the rules that have joined have read; null: nothing was read yet. */
  readonly cursor: string | null;
  /** Every event that was taken in before this time, Unix ms UTC, was read. */
  readonly completeToMs: number;
  /** How many alerts were told. */
  readonly told: number;
  readonly refusals: RefusalCounts;
}

/** A rule in the state. */
export interface StoredRule {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  /** The name of its file, and the text of that. */
  readonly file: string;
  readonly text: string;
  /** The time of the intake at which it began, Unix ms UTC; null: not yet. */
  readonly begunAtMs: number | null;
  /** How far it has read what was stored before it began; null: nothing yet, or it has joined. */
  readonly cursor: string | null;
  /** Whether it reads with the others that have. */
  readonly hasJoined: boolean;
  /** The most events that it lacks, because they could not be read. */
  readonly unreadable: number;
}

/** Keeps alerts from being sent. Times are Unix ms UTC of the intake. */
export interface Silence {
  readonly id: number;
  readonly rule: string;
  /** Those of the rule. */
  readonly zones: ZoneSelection;
  /** The values of the group; null: of all groups. */
  readonly group: readonly string[] | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
}

/** To whom an alert was told, and what messages have of its rule. */
export interface Told {
  readonly rule: ToldRule;
  readonly queues: readonly string[];
  /** Why it was not sent to receivers; null: it was. */
  readonly kept: 'silenced' | 'too_old' | null;
}

/** An alert that was told. */
export interface StoredAlert {
  readonly alert: Alert;
  readonly told: Told;
  readonly earlyEnd: EarlyEnd | null;
}

/** What rules know, alerts, silences and messages, in a SQLite file. A thread uses it, because a commit waits for the disk. */
export class AlertState implements Disposable {
  readonly outbox: OutboxTable;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Throws SQLite's error where the file cannot be used, and AlertStateError where a later program wrote it. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
      const form = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version']);
      if (form > FORM) {
        throw new AlertStateError(`${ALERT_STATE_FILE} is of form ${form}, and this program knows ${FORM}: a later program wrote it`);
      }
      this.outbox = inTransaction(this.#database, () => {
        this.#database.exec(`${SCHEMA}; PRAGMA user_version = ${FORM}`);
        return new OutboxTable(this.#database);
      });
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** All that the work changes is durable when this returns, or nothing of it. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.#database, work);
  }

  get progress(): EvaluationProgress {
    const { cursor, complete_to_ms, told, refusals } = this.#get('SELECT * FROM progress') as Record<string, string | number>;
    const counted = JSON.parse(String(refusals)) as EvaluationProgress['refusals'];
    return { cursor: cursor as string | null, completeToMs: Number(complete_to_ms), told: Number(told), refusals: counted };
  }

  setProgress({ cursor, completeToMs, told, refusals }: EvaluationProgress): void {
    const values = [cursor, completeToMs, told, JSON.stringify(refusals)];
    this.#run('UPDATE progress SET cursor = ?, complete_to_ms = ?, told = ?, refusals = ?', ...values);
  }

  /** In the order in which they were added. */
  get rules(): readonly StoredRule[] {
    const sql = `SELECT id, name, version, file, text, begun_at_ms AS begunAtMs, cursor, has_joined AS hasJoined, unreadable
      FROM rules ORDER BY id`;
    return this.#all(sql).map((row) => ({ ...(row as unknown as StoredRule), hasJoined: row['hasJoined'] === 1 }));
  }

  addRule({ name, version, file, text }: Pick<StoredRule, 'name' | 'version' | 'file' | 'text'>): void {
    this.#run('INSERT INTO rules (name, version, file, text) VALUES (?, ?, ?, ?)', name, version, file, text);
  }

  setRule({ id, file, text, begunAtMs, cursor, hasJoined, unreadable }: Omit<StoredRule, 'name' | 'version'>): void {
    const values = [file, text, begunAtMs, cursor, Number(hasJoined), unreadable, id];
    this.#run('UPDATE rules SET file = ?, text = ?, begun_at_ms = ?, cursor = ?, has_joined = ?, unreadable = ? WHERE id = ?', ...values);
  }

  /** Removes a rule with all that it knows, but for its alerts. */
  removeRule(id: number): void {
    this.clearFold(id);
    this.#run('DELETE FROM rules WHERE id = ?', id);
  }

  /** Forgets what a rule knows, but for its alerts. */
  clearFold(id: number): void {
    for (const table of FOLD_TABLES) this.#run(`DELETE FROM ${table} WHERE rule_id = ?`, id);
    this.#run(`UPDATE rules SET facts = NULL, closed = '[]' WHERE id = ?`, id);
  }

  /** What a rule knows; undefined where it knows nothing, which is but for its alerts. */
  fold(id: number): FoldState | undefined {
    const { facts, closed } = this.#get('SELECT facts, closed FROM rules WHERE id = ?', id) as Record<string, string | null>;
    if (typeof facts !== 'string') return undefined;
    // The rows are changed as they are, because there may be hundreds of thousands.
    const flag = (name: string) => (row: Record<string, unknown>) => Object.assign(row, { [name]: row[name] === 1 });
    const windows = `SELECT begin_ms AS beginMs, closes_at_ms AS closesAtMs, decide_at_ms AS decideAtMs, is_cut AS isCut
      FROM windows WHERE rule_id = ?`;
    const entries = `SELECT window_ms AS windowMs, group_key AS "group", count, part, may_hit AS mayHit FROM entries WHERE rule_id = ?`;
    const values = 'SELECT window_ms AS windowMs, group_key AS "group", value FROM "values" WHERE rule_id = ?';
    const remembered = 'SELECT group_key AS "group", last_ms AS lastMs FROM remembered WHERE rule_id = ?';
    return {
      facts: JSON.parse(facts),
      closed: JSON.parse(String(closed)),
      windows: this.#all(windows, id).map(flag('isCut')) as unknown as FoldState['windows'],
      entries: this.#all(entries, id).map(flag('mayHit')) as unknown as FoldState['entries'],
      values: this.#all(values, id) as unknown as FoldState['values'],
      remembered: this.#all(remembered, id) as unknown as FoldState['remembered'],
      alerts: this.alertsOf(id),
    };
  }

  saveFold({ id, name }: Pick<StoredRule, 'id' | 'name'>, changes: FoldChanges): void {
    const { facts, closed, goneWindows, goneEntries, goneRemembered, goneAlerts } = changes;
    this.#run(
      'UPDATE rules SET facts = ?, closed = coalesce(?, closed) WHERE id = ?',
      JSON.stringify(facts),
      closed && JSON.stringify(closed),
      id,
    );
    for (const windowMs of goneWindows) {
      this.#run('DELETE FROM windows WHERE rule_id = ? AND begin_ms = ?', id, windowMs);
      this.#run('DELETE FROM entries WHERE rule_id = ? AND window_ms = ?', id, windowMs);
      this.#run('DELETE FROM "values" WHERE rule_id = ? AND window_ms = ?', id, windowMs);
    }
    for (const { windowMs, group } of goneEntries) {
      this.#run('DELETE FROM entries WHERE rule_id = ? AND window_ms = ? AND group_key = ?', id, windowMs, group);
      this.#run('DELETE FROM "values" WHERE rule_id = ? AND window_ms = ? AND group_key = ?', id, windowMs, group);
    }
    for (const group of goneRemembered) this.#run('DELETE FROM remembered WHERE rule_id = ? AND group_key = ?', id, group);
    for (const nth of goneAlerts) this.#run('DELETE FROM alerts WHERE rule_id = ? AND nth = ?', id, nth);
    for (const { beginMs, closesAtMs, decideAtMs, isCut } of changes.windows) {
      this.#run('INSERT OR REPLACE INTO windows VALUES (?, ?, ?, ?, ?)', id, beginMs, closesAtMs, decideAtMs, Number(isCut));
    }
    for (const { windowMs, group, count, part, mayHit } of changes.entries) {
      this.#run('INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)', id, windowMs, group, count, part, Number(mayHit));
    }
    for (const { windowMs, group, value } of changes.values) {
      this.#run('INSERT OR IGNORE INTO "values" VALUES (?, ?, ?, ?)', id, windowMs, group, value);
    }
    for (const { group, lastMs } of changes.remembered) this.#run('INSERT OR REPLACE INTO remembered VALUES (?, ?, ?)', id, group, lastMs);
    for (const alert of changes.alerts) {
      const upsert = `INSERT INTO alerts (rule_id, nth, id, rule, from_ms, is_open, alert) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET from_ms = excluded.from_ms, is_open = excluded.is_open, alert = excluded.alert`;
      const isOpen = Number(alert.resolvedAtMs === null);
      this.#run(upsert, id, alert.nth, alert.id, name, alert.fromMs, isOpen, JSON.stringify(alert));
    }
  }

  /** The alerts of a rule in the order in which they were opened. */
  alertsOf(ruleId: number): readonly Alert[] {
    return this.#all('SELECT alert FROM alerts WHERE rule_id = ? ORDER BY nth', ruleId).map(({ alert }) => JSON.parse(String(alert)));
  }

  /** The alerts that were told, the last begun first, at most `limit`. */
  latestTold(limit: number): readonly StoredAlert[] {
    const sql = 'SELECT alert, told, early_end FROM alerts WHERE told IS NOT NULL ORDER BY from_ms DESC, id LIMIT ?';
    return this.#all(sql, limit).map(({ alert, told, early_end }) => {
      return { alert: JSON.parse(String(alert)), told: JSON.parse(String(told)), earlyEnd: early_end as EarlyEnd | null };
    });
  }

  /** How many alerts of a rule are not resolved. Rules may be many and so may alerts, so an index has the open ones. */
  countOpen(ruleId: number): number {
    return Number(this.#get('SELECT count(*) AS count FROM alerts WHERE rule_id = ? AND is_open = 1', ruleId)?.['count']);
  }

  /** To whom an alert of this id was told; null where it was not. */
  told(alertId: string): Told | null {
    const row = this.#get('SELECT told FROM alerts WHERE id = ? AND told IS NOT NULL', alertId);
    return row === undefined ? null : JSON.parse(String(row['told']));
  }

  setTold(ruleId: number, { nth }: Alert, told: Told): void {
    this.#run('UPDATE alerts SET told = ? WHERE rule_id = ? AND nth = ?', JSON.stringify(told), ruleId, nth);
  }

  endEarly(ruleId: number, alert: Alert, earlyEnd: EarlyEnd): void {
    const sql = 'UPDATE alerts SET is_open = 0, alert = ?, early_end = ? WHERE rule_id = ? AND nth = ?';
    this.#run(sql, JSON.stringify(alert), earlyEnd, ruleId, alert.nth);
  }

  /** Removes the alerts of rules that there are no more, where they ended before a time, Unix ms UTC. */
  removeEndedAlerts(beforeMs: number): void {
    this.#run(`DELETE FROM alerts WHERE rule_id NOT IN (SELECT id FROM rules) AND alert ->> 'toMs' < ?`, beforeMs);
  }

  removeEndedSilences(beforeMs: number): void {
    this.#run('DELETE FROM silences WHERE to_ms < ?', beforeMs);
  }

  /** Whether alerts of a group of a rule are kept from being sent at a time, Unix ms UTC. */
  isSilenced(rule: string, group: readonly string[], atMs: number): boolean {
    const sql = `SELECT 1 FROM silences WHERE rule = ? AND from_ms <= ? AND to_ms > ? AND group_values IN ('null', ?) LIMIT 1`;
    return this.#get(sql, rule, atMs, atMs, JSON.stringify(group)) !== undefined;
  }

  get silences(): readonly Silence[] {
    const sql = 'SELECT id, rule, zones, group_values, from_ms AS fromMs, to_ms AS toMs, reason FROM silences ORDER BY id';
    return this.#all(sql).map(({ zones, group_values, ...row }) => {
      return { ...(row as unknown as Silence), zones: JSON.parse(String(zones)), group: JSON.parse(String(group_values)) };
    });
  }

  addSilence({ rule, zones, group, fromMs, toMs, reason }: Omit<Silence, 'id'>): number {
    const sql = 'INSERT INTO silences (rule, zones, group_values, from_ms, to_ms, reason) VALUES (?, ?, ?, ?, ?, ?)';
    return Number(this.#run(sql, rule, JSON.stringify(zones), JSON.stringify(group), fromMs, toMs, reason));
  }

  /** Returns whether there was one. */
  removeSilence(id: number): boolean {
    return this.#all('DELETE FROM silences WHERE id = ? RETURNING id', id).length > 0;
  }

  /** Carries a statement out, and returns the row id of what it put in. */
  #run(sql: string, ...values: readonly SQLInputValue[]): number | bigint {
    return this.#prepared(sql).run(...values).lastInsertRowid;
  }

  #get(sql: string, ...values: readonly SQLInputValue[]): Record<string, unknown> | undefined {
    return this.#prepared(sql).get(...values);
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): readonly Record<string, unknown>[] {
    return this.#prepared(sql).all(...values);
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getSystemErrorMessage } from 'node:util';
import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { inTransaction } from '../../store/sqlite-transaction.ts';
import type { Alert } from '../fold-state.ts';
import type { AlertRule } from '../rule.ts';
import type { PagePlace } from './feed-pages.ts';
import { FOLD_LOG_SCHEMA, FoldLog } from './fold-log.ts';
import { readAlert, readProgress, readSilencedGroup, readSilencedZones, readStoredRule, readTold } from './kept-text.ts';
import { type EarlyEnd, sharingZones, type Told } from './outbox.ts';
import { OUTBOX_SCHEMA, OutboxTable } from './outbox-table.ts';
import { PreparedSql } from './prepared-sql.ts';

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

/** Whether there was a state of alerts, and its file is gone, or empty as a start leaves it that is killed at once. */
export function isStateLost(file: string): boolean {
  return existsSync(markOf(file)) && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
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

/** The form of the tables. A program refuses a file of another one. */
const FORM = 3;
const WAL_LIMIT_BYTES = 16 * 1024 * 1024;
/** A connection waits this long for another one's lock, such as that of a backup, or of an earlier thread that is ending. */
const BUSY_TIMEOUT_MS = 5_000;

/** Columns have what is looked for, and JSON the rest. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY CHECK (id = 0), progress TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, rule TEXT NOT NULL
  ) STRICT;
  ${FOLD_LOG_SCHEMA}
  CREATE TABLE IF NOT EXISTS alerts (
    rule_id INTEGER NOT NULL, nth INTEGER NOT NULL, id TEXT NOT NULL, rule TEXT NOT NULL, from_ms INTEGER NOT NULL,
    is_open INTEGER NOT NULL, alert TEXT NOT NULL, told TEXT, early_end TEXT, PRIMARY KEY (rule_id, nth)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS alerts_by_id ON alerts (id);
  CREATE INDEX IF NOT EXISTS alerts_by_time ON alerts (from_ms);
  CREATE INDEX IF NOT EXISTS open_alerts ON alerts (rule_id) WHERE is_open = 1;
  CREATE TABLE IF NOT EXISTS silences (
    id INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL, zones TEXT NOT NULL, group_values TEXT NOT NULL,
    from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, reason TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS silences_by_rule ON silences (rule);
  ${OUTBOX_SCHEMA}
`;

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

const NO_PROGRESS: EvaluationProgress = { cursor: null, completeToMs: 0, told: 0, refusals: {} };

/** Why a new file begins anew; null: it is the first one. */
function refusalsOfNew(file: string, damaged: number): RefusalCounts | null {
  if (damaged > 0) return { damaged, last: 'damaged' };
  return existsSync(markOf(file)) ? { lost: 1, last: 'lost' } : null;
}

/** A rule in the state. */
export interface StoredRule {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  /** The name of its file, and the text of that. */
  readonly file: string;
  readonly text: string;
  /** The time of the intake at which it began, Unix ms UTC. */
  readonly begunAtMs: number;
  /** From where it reads what was stored before it began; null: it has joined those that have read it, and reads with them. */
  readonly after: PagePlace | null;
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

/** An alert that was told. */
export interface StoredAlert {
  readonly alert: Alert;
  readonly told: Told;
  readonly earlyEnd: EarlyEnd | null;
}

/** Whether all of `zones` are among others. */
function isWithin(zones: ZoneSelection, others: ZoneSelection): boolean {
  if (others === 'all' || zones === 'all') return others === 'all';
  const among = new Set(others);
  return zones.every((zone) => among.has(zone));
}

/** What rules know, alerts, silences and messages, in a SQLite file. A thread uses it, because a commit waits for the disk. */
export class AlertState implements Disposable {
  readonly folds: FoldLog;
  readonly outbox: OutboxTable;
  readonly #database: DatabaseSync;
  readonly #sql: PreparedSql;

  /**
   * `damaged` is how many files were damaged and set aside before this one: a new file begins with that in its refusals, or with that the
   * one before was lost. Throws SQLite's error where the file cannot be used, and AlertStateError where it is of another form.
   */
  constructor(file: string, damaged = 0) {
    this.#database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
      const form = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version']);
      const isNew = form === 0;
      if (!isNew && form !== FORM) {
        const writer = form > FORM ? 'a later' : 'an earlier';
        throw new AlertStateError(`${ALERT_STATE_FILE} is of form ${form}, and this program knows ${FORM}: ${writer} program wrote it`);
      }
      this.#sql = new PreparedSql(this.#database);
      this.folds = new FoldLog(this.#sql);
      this.outbox = new OutboxTable(this.#sql);
      this.transaction(() => {
        this.#database.exec(`${SCHEMA}; PRAGMA user_version = ${FORM}`);
        // A file that is there counts as begun, so that what it replaces is written with its tables or never.
        const refusals = isNew ? refusalsOfNew(file, damaged) : null;
        if (refusals !== null) this.setProgress({ ...NO_PROGRESS, refusals });
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
    const row = this.#sql.get`SELECT progress FROM progress`;
    return row === undefined ? NO_PROGRESS : readProgress(row['progress']);
  }

  setProgress(progress: EvaluationProgress): void {
    this.#sql.run`INSERT OR REPLACE INTO progress VALUES (0, ${JSON.stringify(progress)})`;
  }

  /** In the order in which they were added. */
  get rules(): readonly StoredRule[] {
    return this.#sql.all`SELECT id, rule FROM rules ORDER BY id`.map(({ id, rule }) => ({ ...readStoredRule(rule), id: Number(id) }));
  }

  addRule(rule: Omit<StoredRule, 'id'>): void {
    this.#sql.run`INSERT INTO rules (name, rule) VALUES (${rule.name}, ${JSON.stringify(rule)})`;
  }

  setRule(rule: StoredRule): void {
    this.#sql.run`UPDATE rules SET rule = ${JSON.stringify(rule)} WHERE id = ${rule.id}`;
  }

  /** Removes a rule with all that it knows, but for its alerts. */
  removeRule(id: number): void {
    this.folds.clear(id);
    this.#sql.run`DELETE FROM rules WHERE id = ${id}`;
  }

  /** Writes alerts of a rule that have changed. Those that are gone stay until `removeAlerts`. */
  saveAlerts({ id, name }: Pick<StoredRule, 'id' | 'name'>, alerts: readonly Alert[]): void {
    for (const alert of alerts) {
      const isOpen = Number(alert.resolvedAtMs === null);
      this.#sql.run`INSERT INTO alerts (rule_id, nth, id, rule, from_ms, is_open, alert)
        VALUES (${id}, ${alert.nth}, ${alert.id}, ${name}, ${alert.fromMs}, ${isOpen}, ${JSON.stringify(alert)})
        ON CONFLICT DO UPDATE SET from_ms = excluded.from_ms, is_open = excluded.is_open, alert = excluded.alert`;
    }
  }

  removeAlerts(ruleId: number, nths: readonly number[]): void {
    for (const nth of nths) this.#sql.run`DELETE FROM alerts WHERE rule_id = ${ruleId} AND nth = ${nth}`;
  }

  /** The alerts of a rule in the order in which they were opened. */
  alertsOf(ruleId: number): readonly Alert[] {
    return this.#sql.all`SELECT alert FROM alerts WHERE rule_id = ${ruleId} ORDER BY nth`.map(({ alert }) => readAlert(alert));
  }

  /** The alerts that were told, the last begun first, at most `limit`. Those of one version of a rule share its zones. */
  latestTold(limit: number): readonly StoredAlert[] {
    const shared = sharingZones();
    const rows = this.#sql.iterate`SELECT alert, told, early_end FROM alerts WHERE told IS NOT NULL
      ORDER BY from_ms DESC, id LIMIT ${limit}`;
    return Array.from(rows, ({ alert, told, early_end }) => {
      const { rule, ...more } = readTold(told);
      return { alert: readAlert(alert), told: { rule: shared(rule), ...more }, earlyEnd: early_end as EarlyEnd | null };
    });
  }

  /** How many alerts of a rule are not resolved. Rules may be many and so may alerts, so an index has the open ones. */
  countOpen(ruleId: number): number {
    return Number(this.#sql.get`SELECT count(*) AS count FROM alerts WHERE rule_id = ${ruleId} AND is_open = 1`?.['count']);
  }

  /** To whom an alert of this id was told; null where it was not. */
  told(alertId: string): Told | null {
    const row = this.#sql.get`SELECT told FROM alerts WHERE id = ${alertId} AND told IS NOT NULL`;
    return row === undefined ? null : readTold(row['told']);
  }

  setTold(ruleId: number, { nth }: Alert, told: Told): void {
    this.#sql.run`UPDATE alerts SET told = ${JSON.stringify(told)} WHERE rule_id = ${ruleId} AND nth = ${nth}`;
  }

  endEarly(ruleId: number, alert: Alert, earlyEnd: EarlyEnd): void {
    this.#sql.run`UPDATE alerts SET is_open = 0, alert = ${JSON.stringify(alert)}, early_end = ${earlyEnd}
      WHERE rule_id = ${ruleId} AND nth = ${alert.nth}`;
  }

  /** Removes the alerts of rules that there are no more, where they ended before a time, Unix ms UTC. */
  removeEndedAlerts(beforeMs: number): void {
    this.#sql.run`DELETE FROM alerts WHERE rule_id NOT IN (SELECT id FROM rules) AND alert ->> 'toMs' < ${beforeMs}`;
  }

  removeEndedSilences(beforeMs: number): void {
    this.#sql.run`DELETE FROM silences WHERE to_ms < ${beforeMs}`;
  }

  /**
   * Whether alerts of a group of a rule are kept from being sent at a time, Unix ms UTC. A rule may have got zones since that a silence was
   * not made for: whoever made it might not open them.
   */
  isSilenced({ name, zones }: Pick<AlertRule, 'name' | 'zones'>, group: readonly string[], atMs: number): boolean {
    const rows = this.#sql.all`SELECT DISTINCT zones FROM silences WHERE rule = ${name} AND from_ms <= ${atMs} AND to_ms > ${atMs}
      AND group_values IN ('null', ${JSON.stringify(group)})`;
    return rows.some((row) => isWithin(zones, readSilencedZones(row['zones'])));
  }

  get silences(): readonly Silence[] {
    const rows = this.#sql.all`SELECT id, rule, zones, group_values, from_ms AS fromMs, to_ms AS toMs, reason FROM silences ORDER BY id`;
    return rows.map(({ zones, group_values, ...row }) => {
      return { ...(row as unknown as Silence), zones: readSilencedZones(zones), group: readSilencedGroup(group_values) };
    });
  }

  addSilence({ rule, zones, group, fromMs, toMs, reason }: Omit<Silence, 'id'>): number {
    const added = this.#sql.run`INSERT INTO silences (rule, zones, group_values, from_ms, to_ms, reason)
      VALUES (${rule}, ${JSON.stringify(zones)}, ${JSON.stringify(group)}, ${fromMs}, ${toMs}, ${reason})`;
    return Number(added.lastInsertRowid);
  }

  /** Returns whether there was one. */
  removeSilence(id: number): boolean {
    return this.#sql.run`DELETE FROM silences WHERE id = ${id}`.changes > 0;
  }
}

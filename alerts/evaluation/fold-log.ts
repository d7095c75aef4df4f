import type { FoldChanges, FoldRow, FoldState } from '../fold-state.ts';
import type { PreparedSql } from './prepared-sql.ts';

export const FOLD_LOG_SCHEMA = `
  CREATE TABLE IF NOT EXISTS fold_log (id INTEGER PRIMARY KEY AUTOINCREMENT, rule_id INTEGER NOT NULL, changes TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS fold_log_by_rule ON fold_log (rule_id);
`;

/** The changes that follow may have so many characters more than twice those of the whole before them. */
const SPARE_LENGTH = 64 * 1024;

/** What the log has of one call of `write`: rows without the names of their members, because they are many. */
interface LoggedChanges extends Pick<FoldChanges, 'facts' | 'closed'> {
  readonly gone: readonly (readonly [windowMs: number, group: string])[];
  readonly rows: readonly (readonly [windowMs: number, group: string, value: string, data: unknown])[];
}

/** A group of a window, or under an empty group the window itself. */
interface LoggedGroup {
  data: unknown;
  values: Map<string, unknown> | null;
}

/**
 * What rules know, as a log of what changed, because a page of events changes thousands of rows that lie nowhere near each other. For each
 * rule it begins with all that the rule knew, and so it does again when it has become long.
 */
export class FoldLog {
  readonly #sql: PreparedSql;
  /** By rules: the characters of the whole, and of the changes behind it. */
  readonly #lengths = new Map<number, { readonly whole: number; readonly behind: number }>();

  constructor(sql: PreparedSql) {
    this.#sql = sql;
  }

  /** Whether the next changes should be all that the rule knows. */
  isLong(ruleId: number): boolean {
    const { whole, behind } = this.#lengths.get(ruleId) ?? { whole: 0, behind: 0 };
    return behind > 2 * whole + SPARE_LENGTH;
  }

  /** Writes what has changed of a rule. */
  write(ruleId: number, { facts, closed, gone, rows, isWhole }: Omit<FoldChanges, 'alerts' | 'goneAlerts'>): void {
    if (isWhole) this.clear(ruleId);
    const logged: LoggedChanges = {
      facts,
      closed,
      gone: gone.map(({ windowMs, group }) => [windowMs, group]),
      rows: rows.map(({ windowMs, group, value, data }) => [windowMs, group, value, data]),
    };
    const text = JSON.stringify(logged);
    this.#sql.run`INSERT INTO fold_log (rule_id, changes) VALUES (${ruleId}, ${text})`;
    this.#noteLength(ruleId, text.length);
  }

  /** Forgets what a rule knows. */
  clear(ruleId: number): void {
    this.#sql.run`DELETE FROM fold_log WHERE rule_id = ${ruleId}`;
    this.#lengths.delete(ruleId);
  }

  /** What a rule knows but for its alerts; undefined where that is nothing. */
  read(ruleId: number): FoldState | undefined {
    this.#lengths.delete(ruleId);
    let [facts, closed]: [FoldState['facts'] | undefined, FoldState['closed']] = [undefined, []];
    const windows = new Map<number, Map<string, LoggedGroup>>();
    for (const { changes } of this.#sql.iterate`SELECT changes FROM fold_log WHERE rule_id = ${ruleId} ORDER BY id`) {
      const text = String(changes);
      this.#noteLength(ruleId, text.length);
      const logged: LoggedChanges = JSON.parse(text);
      facts = logged.facts;
      closed = logged.closed ?? closed;
      for (const [windowMs, group] of logged.gone) {
        if (group === '') windows.delete(windowMs);
        else windows.get(windowMs)?.delete(group);
      }
      for (const row of logged.rows) setRow(windows, row);
    }
    return facts && { facts, closed, rows: rowsOf(windows) };
  }

  #noteLength(ruleId: number, length: number): void {
    const before = this.#lengths.get(ruleId);
    this.#lengths.set(ruleId, before === undefined ? { whole: length, behind: 0 } : { ...before, behind: before.behind + length });
  }
}

function setRow(windows: Map<number, Map<string, LoggedGroup>>, [windowMs, group, value, data]: LoggedChanges['rows'][number]): void {
  const groups = windows.get(windowMs) ?? new Map<string, LoggedGroup>();
  windows.set(windowMs, groups);
  const known = groups.get(group) ?? { data: null, values: null };
  groups.set(group, known);
  if (value === '') {
    known.data = data;
  } else {
    known.values ??= new Map();
    known.values.set(value, data);
  }
}

/** They come one by one, because there may be hundreds of thousands. */
function* rowsOf(windows: ReadonlyMap<number, ReadonlyMap<string, LoggedGroup>>): Generator<FoldRow, void> {
  for (const [windowMs, groups] of windows) {
    for (const [group, { data, values }] of groups) {
      yield { windowMs, group, value: '', data };
      for (const [value, ofValue] of values ?? []) yield { windowMs, group, value, data: ofValue };
    }
  }
}

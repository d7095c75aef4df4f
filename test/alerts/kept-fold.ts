import { DatabaseSync } from 'node:sqlite';
import { FOLD_LOG_SCHEMA, FoldLog } from '../../alerts/evaluation/fold-log.ts';
import { PreparedSql } from '../../alerts/evaluation/prepared-sql.ts';
import type { Alert, FoldChanges, FoldRow, FoldState } from '../../alerts/fold-state.ts';
import type { RuleFold } from '../../alerts/rule-fold.ts';

/** A state whose rows are in the order of their keys, and its alerts in that in which they were opened. */
export interface KeptState extends FoldState {
  readonly rows: readonly FoldRow[];
  readonly alerts: readonly Alert[];
}

const LOG_DATABASE = new DatabaseSync(':memory:');
LOG_DATABASE.exec(FOLD_LOG_SCHEMA);
let logged = 0;

/** What the changes of a fold add up to, in a log of a database. */
export class KeptFold {
  readonly #log = new FoldLog(new PreparedSql(LOG_DATABASE));
  readonly #id: number;
  readonly #alerts = new Map<number, Alert>();

  constructor() {
    logged += 1;
    this.#id = logged;
  }

  write(changes: FoldChanges | null): void {
    if (changes === null) return;
    this.#log.write(this.#id, changes);
    for (const alert of changes.alerts) this.#alerts.set(alert.nth, alert);
    for (const nth of changes.goneAlerts) this.#alerts.delete(nth);
  }

  /** Undefined where nothing was written. */
  get state(): KeptState | undefined {
    const known = this.#log.read(this.#id);
    if (known === undefined) return undefined;
    return {
      ...known,
      rows: inKeyOrder(known.rows),
      alerts: [...this.#alerts.values()].toSorted((one, other) => one.nth - other.nth),
    };
  }
}

/** Rows in the order of their keys. */
export const inKeyOrder = (rows: Iterable<FoldRow>): readonly FoldRow[] => [...rows].toSorted(inOrder);

function inOrder(one: FoldRow, other: FoldRow): number {
  if (one.windowMs !== other.windowMs) return one.windowMs - other.windowMs;
  if (one.group !== other.group) return one.group < other.group ? -1 : 1;
  return one.value < other.value ? -1 : 1;
}

/** All that a fold knows that was begun as a new one, and whose changes were not taken yet. */
export function stateOf(fold: RuleFold): KeptState {
  const kept = new KeptFold();
  kept.write(fold.takeChanges());
  if (kept.state === undefined) throw new Error('a new fold has changes');
  return kept.state;
}

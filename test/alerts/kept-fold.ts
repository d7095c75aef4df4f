import type { Alert } from '../../alerts/alert-book.ts';
import type { FoldChanges, FoldRow, FoldState } from '../../alerts/fold-state.ts';
import type { RuleFold } from '../../alerts/rule-fold.ts';

/** A state whose rows are in the order of their keys, as a database has them, and its alerts in that in which they were opened. */
export interface KeptState extends FoldState {
  readonly rows: readonly FoldRow[];
  readonly alerts: readonly Alert[];
}

/** What the changes of a fold add up to. */
export class KeptFold {
  #facts: FoldState['facts'] | undefined;
  #closed: FoldState['closed'] = [];
  #rows = new Map<string, FoldRow>();
  readonly #alerts = new Map<number, Alert>();

  write(changes: FoldChanges | null): void {
    if (changes === null) return;
    this.#facts = changes.facts;
    this.#closed = changes.closed ?? this.#closed;
    for (const { windowMs, group } of changes.gone) {
      for (const [key, row] of this.#rows) {
        if (row.windowMs === windowMs && (group === '' || row.group === group)) this.#rows.delete(key);
      }
    }
    for (const row of changes.rows) this.#rows.set(JSON.stringify([row.windowMs, row.group, row.value]), row);
    for (const alert of changes.alerts) this.#alerts.set(alert.nth, alert);
    for (const nth of changes.goneAlerts) this.#alerts.delete(nth);
  }

  /** Undefined where nothing was written. */
  get state(): KeptState | undefined {
    if (this.#facts === undefined) return undefined;
    return {
      facts: this.#facts,
      closed: this.#closed,
      rows: [...this.#rows.values()].toSorted(inOrder),
      alerts: [...this.#alerts.values()].toSorted((one, other) => one.nth - other.nth),
    };
  }
}

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

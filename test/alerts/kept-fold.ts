import type { FoldChanges, FoldState, KeptEntry } from '../../alerts/fold-state.ts';

type Rows = Pick<FoldState, 'windows' | 'entries' | 'values' | 'remembered' | 'alerts'>;

/** What the changes of a fold add up to, in tables by key, as a database has them. */
export class KeptFold {
  #facts: FoldState['facts'] | undefined;
  #closed: FoldState['closed'] = [];
  readonly #tables: { readonly [Name in keyof Rows]: Map<string, Rows[Name][number]> } = {
    windows: new Map(),
    entries: new Map(),
    values: new Map(),
    remembered: new Map(),
    alerts: new Map(),
  };

  write(changes: FoldChanges | null): void {
    if (changes === null) return;
    const { windows, entries, values, remembered, alerts } = this.#tables;
    this.#facts = changes.facts;
    this.#closed = changes.closed ?? this.#closed;
    for (const begin of changes.goneWindows) {
      windows.delete(String(begin));
      this.#removeEntries((row) => row.windowMs === begin);
    }
    for (const gone of changes.goneEntries) this.#removeEntries((row) => row.windowMs === gone.windowMs && row.group === gone.group);
    for (const group of changes.goneRemembered) remembered.delete(group);
    for (const nth of changes.goneAlerts) alerts.delete(String(nth));
    for (const row of changes.windows) windows.set(String(row.beginMs), row);
    for (const row of changes.entries) entries.set(JSON.stringify([row.windowMs, row.group]), row);
    for (const row of changes.values) values.set(JSON.stringify([row.windowMs, row.group, row.value]), row);
    for (const row of changes.remembered) remembered.set(row.group, row);
    for (const row of changes.alerts) alerts.set(String(row.nth), row);
  }

  #removeEntries(isGone: (row: Pick<KeptEntry, 'windowMs' | 'group'>) => boolean): void {
    for (const table of [this.#tables.entries, this.#tables.values]) {
      for (const [key, row] of table) if (isGone(row)) table.delete(key);
    }
  }

  /** Undefined where nothing was written. */
  get state(): FoldState | undefined {
    const { windows, entries, values, remembered, alerts } = this.#tables;
    if (this.#facts === undefined) return undefined;
    return sorted({
      facts: this.#facts,
      closed: this.#closed,
      windows: [...windows.values()],
      entries: [...entries.values()],
      values: [...values.values()],
      remembered: [...remembered.values()],
      alerts: [...alerts.values()].toSorted((one, other) => one.nth - other.nth),
    });
  }
}

/** A state whose rows without an order are in one. */
export function sorted(state: FoldState): FoldState {
  const inOrder = <T>(rows: readonly T[]) => rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  const { windows, entries, values, remembered } = state;
  return { ...state, windows: inOrder(windows), entries: inOrder(entries), values: inOrder(values), remembered: inOrder(remembered) };
}

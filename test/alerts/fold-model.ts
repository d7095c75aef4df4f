import { alertId, type CountedEvent, groupKey, keptValue } from '../../alerts/alert-group.ts';
import { type AlertRule, SETTLE_MS, SHARE_UNIT, TIMES_UNIT, versionOf } from '../../alerts/rule.ts';

/** An event in one of its windows. */
interface Counted {
  readonly window: number;
  readonly group: string;
  readonly value: string | undefined;
  readonly isPart: boolean;
}

interface ModelWindow {
  readonly closesAt: number;
  isClosed: boolean;
  decideAt: number | null;
  isDropped: boolean;
}

interface ModelAlert {
  /** The key of its group. */
  readonly group: string;
  readonly window: number;
  from: number;
  to: number;
  hits: number;
  lastHitTime: number;
  isResolved: boolean;
}

/**
 * What a rule makes of its events, as plainly as it can be said: everything is looked for in lists, and counted anew at each event. It has
 * no bounds. Rules of it have one dimension, `country`, and all of what is counted within a group is of `ip`; the part of `ratio` is what
 * was blocked. It knows nothing before it begins.
 */
export class FoldModel {
  readonly news: string[] = [];
  tooLate = 0;
  readonly #rule: AlertRule;
  readonly #begun: number;
  readonly #retention: number;
  #time = 0;
  readonly #counted: Counted[] = [];
  readonly #windows = new Map<number, ModelWindow>();
  readonly #hits = new Set<string>();
  readonly #alerts: ModelAlert[] = [];
  readonly #remembered = new Map<string, number>();

  constructor(rule: AlertRule, { begun, retention }: { readonly begun: number; readonly retention: number }) {
    this.#rule = rule;
    this.#retention = retention;
    this.#begun = begun;
  }

  advance(time: number): void {
    for (;;) {
      const due = this.#dues()
        .filter(({ at }) => at <= time)
        .sort((a, b) => a.at - b.at || a.rank - b.rank || a.window - b.window || (a.group < b.group ? -1 : 1))[0];
      if (due === undefined) break;
      this.#time = Math.max(this.#time, due.at);
      due.work();
    }
    this.#time = Math.max(this.#time, time);
  }

  count({ zoneId, timestamp, ingestedAtMs, fields }: CountedEvent): void {
    this.advance(ingestedAtMs);
    const { kind, windowMs, lateMs } = this.#rule;
    if (kind.kind === 'new_value') {
      const group = groupKey([String(zoneId), fields.ip ?? ''].map(keptValue));
      const isNew = !this.#remembered.has(group);
      if (fields.ip === undefined) return;
      this.#remembered.set(group, this.#time);
      if (isNew && this.#time >= this.#begun) this.#hit(Math.floor(timestamp / 60_000) * 60_000, group);
      return;
    }
    const step = windowMs / 2;
    const group = groupKey([keptValue(fields.country ?? '')]);
    for (const begin of [Math.floor(timestamp / step) - 1, Math.floor(timestamp / step)].map((nth) => nth * step)) {
      const closesAt = Math.max(begin + windowMs, this.#time) + lateMs;
      const window = this.#windows.get(begin) ?? { closesAt, isClosed: false, decideAt: null, isDropped: false };
      this.#windows.set(begin, window);
      if (window.isClosed) {
        this.tooLate += 1;
        continue;
      }
      this.#counted.push({ window: begin, group, value: fields.ip, isPart: fields.action === 'blocked' });
      if (kind.kind === 'ratio' || kind.kind === 'more_than_before') {
        window.decideAt ??= Math.max(begin + windowMs, this.#time) + SETTLE_MS;
      } else {
        this.#look(begin, group);
      }
    }
  }

  #of(window: number, group: string): readonly Counted[] {
    return this.#counted.filter((one) => one.window === window && one.group === group);
  }

  /** Whether a window of a group meets the condition, from all that has been counted. */
  #look(window: number, group: string): void {
    const all = this.#of(window, group);
    if (all.length === 0 || this.#hits.has(`${window} ${group}`) || !this.#meets(window, group, all)) return;
    this.#hits.add(`${window} ${group}`);
    this.#hit(window, group);
  }

  #meets(window: number, group: string, all: readonly Counted[]): boolean {
    const { kind, windowMs } = this.#rule;
    switch (kind.kind) {
      case 'count':
        return all.length >= kind.atLeast;
      case 'distinct':
        return new Set(all.map(({ value }) => value).filter((value) => value !== undefined)).size >= kind.atLeast;
      case 'ratio':
        return all.length >= kind.atLeast && all.filter(({ isPart }) => isPart).length * SHARE_UNIT >= kind.share * all.length;
      case 'more_than_before': {
        const first = window - kind.before * windowMs;
        const isHistoryGone = [...this.#windows].some(([begin, { isDropped }]) => isDropped && begin >= first);
        const readFrom = this.#begun - Math.min(this.#retention, (kind.before + 1) * windowMs);
        if (this.#time < this.#begun || first < readFrom || isHistoryGone) return false;
        const before = Array.from({ length: kind.before }, (_, nth) => this.#of(first + nth * windowMs, group).length);
        const sum = before.reduce((total, one) => total + one, 0);
        return all.length >= kind.atLeast && all.length * kind.before * TIMES_UNIT >= kind.times * sum;
      }
      default:
        throw new Error(`${kind.kind} has no windows`);
    }
  }

  #hit(window: number, group: string): void {
    const { windowMs, quietMs, hold } = this.#rule;
    let alert = this.#alerts.find((one) => one.group === group && window < one.to + quietMs && window + windowMs > one.from - quietMs);
    if (alert === undefined) {
      alert = { group, window, from: window, to: window + windowMs, hits: 0, lastHitTime: this.#time, isResolved: false };
      this.#alerts.push(alert);
    }
    alert.hits += 1;
    if (!alert.isResolved) {
      alert.from = Math.min(alert.from, window);
      alert.to = Math.max(alert.to, window + windowMs);
      alert.lastHitTime = this.#time;
    }
    this.news.push(`hit ${window} ${group} of ${this.#idOf(alert)}`);
    if (alert.hits === hold && !alert.isResolved) this.news.push(`told ${this.#idOf(alert)} at ${this.#time}`);
  }

  #idOf({ group, window }: ModelAlert): string {
    const values: readonly string[] = JSON.parse(group);
    return alertId(this.#rule.name, versionOf(this.#rule), values.map(keptValue), window);
  }

  #dues() {
    const { kind, quietMs } = this.#rule;
    const windows = [...this.#windows].map(([window, state]) => ({ window, group: '', state }));
    const deciding = windows.map(({ window, group, state }) => ({
      ...{ at: state.decideAt ?? Number.POSITIVE_INFINITY, rank: 0, window, group },
      work: () => {
        state.decideAt = null;
        for (const key of [...new Set(this.#counted.map((one) => one.group))].sort()) this.#look(window, key);
      },
    }));
    const resolving = this.#alerts
      .filter(({ isResolved }) => !isResolved)
      .map((alert) => ({
        ...{ at: Math.max(alert.to, alert.lastHitTime) + quietMs, rank: 1, window: alert.window, group: alert.group },
        work: () => {
          alert.isResolved = true;
          this.news.push(`resolved ${this.#idOf(alert)} at ${this.#time} after ${alert.hits}`);
        },
      }));
    const closing = windows
      .filter(({ state }) => !state.isClosed)
      .map(({ window, group, state }) => ({
        at: state.closesAt,
        rank: 2,
        window,
        group,
        work: () => void Object.assign(state, { isClosed: true }),
      }));
    const dropping = windows
      .filter(({ state }) => kind.kind === 'more_than_before' && !state.isDropped)
      .map(({ window, group, state }) => {
        return { at: this.#neededTo(window, state), rank: 2, window, group, work: () => void Object.assign(state, { isDropped: true }) };
      });
    const forgetting = [...this.#remembered].map(([group, last]) => ({
      ...{ at: last + (kind.kind === 'new_value' ? kind.forMs : 0), rank: 3, window: 0, group },
      work: () => void this.#remembered.delete(group),
    }));
    return [...deciding, ...resolving, ...closing, ...dropping, ...forgetting];
  }

  /** The counts of a window are compared with later ones until these have been decided, where they were not very late themselves. */
  #neededTo(window: number, { closesAt }: ModelWindow): number {
    const { kind, windowMs, lateMs } = this.#rule;
    const before = kind.kind === 'more_than_before' ? kind.before : 0;
    return Math.max(closesAt, window + (before + 1) * windowMs + lateMs) + SETTLE_MS;
  }
}

import { compileMatcher, type Matcher, matchSubject } from '../query/match/match-event.ts';
import { alertId, type CountedEvent, fieldValue, type GroupValue, groupKey, keptValue } from './alert-group.ts';
import { ClosedWindows, type WindowRange } from './closed-windows.ts';
import { type Due, DueTimes } from './due-times.ts';
import { type AlertRule, versionOf } from './rule.ts';

/** Hits of a group that are less than `quiet` apart. All times are Unix ms UTC; those of waiting are of the intake. */
export interface Alert {
  readonly id: string;
  /** The values of its group in the order of the rule's `by`. */
  readonly group: readonly GroupValue[];
  /** The begin of the window of its first hit. */
  readonly windowMs: number;
  /** From the begin of its first window to the end of its last. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly hits: number;
  /** When it was told; null: it had too few hits yet, or never enough. */
  readonly toldAtMs: number | null;
  readonly resolvesAtMs: number;
  readonly resolvedAtMs: number | null;
  /** Whether the rule had given up windows or groups by then, so that hits may be missing. */
  readonly isBounded: boolean;
}

/** What an event, or the time, brings about. */
export type FoldNews =
  /** A window of a group met the condition, and belongs to this alert. */
  | { readonly kind: 'hit'; readonly windowMs: number; readonly alert: Alert }
  | { readonly kind: 'told'; readonly alert: Alert }
  | { readonly kind: 'resolved'; readonly alert: Alert };

/** A window of a group: its events so far, and until it has hit its values, where these are counted. */
interface Entry {
  readonly group: readonly GroupValue[];
  readonly count: number;
  readonly hasHit: boolean;
  readonly values: readonly string[];
}

interface OpenWindow {
  readonly beginMs: number;
  readonly closesAtMs: number;
  readonly entries: readonly Entry[];
}

/** All that a fold knows, as plain data: another one goes on from there. */
export interface FoldState {
  /** The intake time up to which everything is counted, Unix ms UTC. It never goes back. */
  readonly timeMs: number;
  readonly windows: readonly OpenWindow[];
  readonly closed: readonly WindowRange[];
  /** In the order in which they were opened. */
  readonly alerts: readonly Alert[];
  /** How often an event came after a window of it had closed. */
  readonly tooLate: number;
  /** How many windows were closed early, groups given up and alerts resolved early, because there were too many. */
  readonly bounded: number;
}

const EMPTY: FoldState = { timeMs: 0, windows: [], closed: [], alerts: [], tooLate: 0, bounded: 0 };

/** The most alerts that a rule keeps: the oldest resolved ones give way, and without one the oldest of all, which is resolved early. */
export const MAX_ALERTS = 100_000;

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };
type CountedGroup = Mutable<Omit<Entry, 'values'>> & { readonly values: Set<string> };

interface CountedWindow {
  readonly closesAtMs: number;
  readonly groups: Map<string, CountedGroup>;
}

export interface RuleFoldOptions {
  /** For how long events are kept: what is older comes no more. */
  readonly retentionMs: number;
  readonly state?: FoldState;
  readonly maxAlerts?: number;
}

/**
 * Makes alerts of the events of a rule, in the order of the feed. Windows are of the time of events, and all waiting is of the time of
 * their intake, so that neither a clock nor the pages in which events are read change what comes out.
 */
export class RuleFold {
  readonly #rule: AlertRule;
  readonly #version: string;
  readonly #retentionMs: number;
  readonly #maxAlerts: number;
  readonly #matches: Matcher;
  readonly #zones: ReadonlySet<number> | null;
  readonly #windows = new Map<number, CountedWindow>();
  readonly #closed: ClosedWindows;
  /** In the order in which they were opened; by the key of their group, too. */
  readonly #alerts = new Set<Mutable<Alert>>();
  readonly #ofGroup = new Map<string, Set<Mutable<Alert>>>();
  readonly #due = new DueTimes();
  #entries = 0;
  #timeMs: number;
  #tooLate: number;
  #bounded: number;
  #news: FoldNews[] = [];

  constructor(rule: AlertRule, { retentionMs, state = EMPTY, maxAlerts = MAX_ALERTS }: RuleFoldOptions) {
    this.#rule = rule;
    this.#version = versionOf(rule);
    this.#retentionMs = retentionMs;
    this.#maxAlerts = maxAlerts;
    this.#matches = compileMatcher(rule.where).matches;
    this.#zones = rule.zones === 'all' ? null : new Set(rule.zones);
    this.#closed = new ClosedWindows(rule.windowMs / 2, state.closed);
    ({ timeMs: this.#timeMs, tooLate: this.#tooLate, bounded: this.#bounded } = state);
    for (const { beginMs, closesAtMs, entries } of state.windows) {
      const groups = entries.map((entry) => [groupKey(entry.group), { ...entry, values: new Set(entry.values) }] as const);
      this.#openWindow(beginMs, { closesAtMs, groups: new Map(groups) });
      this.#entries += groups.length;
    }
    for (const alert of state.alerts) {
      this.#keep({ ...alert });
    }
  }

  get state(): FoldState {
    const windows = [...this.#windows].map(([beginMs, { closesAtMs, groups }]) => {
      return { beginMs, closesAtMs, entries: [...groups.values()].map((group) => ({ ...group, values: [...group.values] })) };
    });
    const alerts = [...this.#alerts].map((alert) => ({ ...alert }));
    const { ranges: closed } = this.#closed;
    return { timeMs: this.#timeMs, windows, closed, alerts, tooLate: this.#tooLate, bounded: this.#bounded };
  }

  /** Counts an event where the rule is about it, after all that was due when it came in. */
  count(event: CountedEvent): readonly FoldNews[] {
    if (this.#zones?.has(event.zoneId) === false || !this.#matches(matchSubject(event.fields))) {
      return [];
    }
    this.#workOff(event.ingestedAtMs);
    const { by, kind, windowMs } = this.#rule;
    const group = by.map((dimension) => keptValue(fieldValue(event, dimension) ?? ''));
    const value = kind.kind === 'distinct' ? fieldValue(event, kind.field) : undefined;
    const key = groupKey(group);
    const stepMs = windowMs / 2;
    const lastMs = Math.floor(event.timestamp / stepMs) * stepMs;
    for (const beginMs of [lastMs - stepMs, lastMs]) {
      this.#countIn(beginMs, key, group, value);
    }
    return this.#takeNews();
  }

  /** Works off what is due by the time up to which all events were counted. */
  completeTo(timeMs: number): readonly FoldNews[] {
    this.#workOff(timeMs);
    return this.#takeNews();
  }

  #takeNews(): readonly FoldNews[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  #countIn(beginMs: number, key: string, values: readonly GroupValue[], value: string | undefined): void {
    if (!this.#closed.has(beginMs) && this.#windows.get(beginMs)?.groups.has(key) !== true) {
      this.#makeRoom();
    }
    if (this.#closed.has(beginMs)) {
      this.#tooLate += 1;
      return;
    }
    const { windowMs, lateMs, kind } = this.#rule;
    const closesAtMs = Math.max(beginMs + windowMs, this.#timeMs) + Math.min(lateMs, this.#retentionMs);
    const window = this.#windows.get(beginMs) ?? this.#openWindow(beginMs, { closesAtMs, groups: new Map() });
    let group = window.groups.get(key);
    if (group === undefined) {
      group = { group: values, count: 0, hasHit: false, values: new Set() };
      window.groups.set(key, group);
      this.#entries += 1;
    }
    group.count += 1;
    if (value !== undefined && !group.hasHit) {
      group.values.add(groupKey([keptValue(value)]));
    }
    if (!group.hasHit && (kind.kind === 'count' ? group.count : group.values.size) >= kind.atLeast) {
      group.hasHit = true;
      group.values.clear();
      this.#hit(beginMs, key, values);
    }
  }

  #openWindow(beginMs: number, window: CountedWindow): CountedWindow {
    this.#windows.set(beginMs, window);
    this.#due.add({ atMs: window.closesAtMs, kind: 'close', windowMs: beginMs, group: '' });
    return window;
  }

  /** Makes room for one more window of a group: the oldest window closes, and of the only one the half with the lowest counts goes. */
  #makeRoom(): void {
    const { by, maxGroups } = this.#rule;
    while (by.length > 0 && this.#entries >= maxGroups) {
      this.#bounded += 1;
      if (this.#windows.size > 1) {
        this.#close([...this.#windows.keys()].reduce((oldest, one) => Math.min(oldest, one)));
        continue;
      }
      for (const [, { groups }] of this.#windows) {
        const lowestFirst = [...groups].toSorted(([key, { count }], [otherKey, other]) => {
          return count - other.count || (key > otherKey ? -1 : 1);
        });
        for (const [key] of lowestFirst.slice(0, Math.ceil(lowestFirst.length / 2))) {
          groups.delete(key);
          this.#entries -= 1;
        }
      }
    }
  }

  #close(beginMs: number): void {
    this.#entries -= this.#windows.get(beginMs)?.groups.size ?? 0;
    this.#windows.delete(beginMs);
    this.#closed.add(beginMs);
  }

  #hit(windowMs: number, key: string, group: readonly GroupValue[]): void {
    const { windowMs: lengthMs, quietMs, hold } = this.#rule;
    const [fromMs, toMs] = [windowMs, windowMs + lengthMs];
    const near = [...(this.#ofGroup.get(key) ?? [])].find((one) => fromMs < one.toMs + quietMs && toMs > one.fromMs - quietMs);
    const alert = near ?? this.#open(windowMs, group);
    alert.hits += 1;
    if (alert.resolvedAtMs === null) {
      alert.fromMs = Math.min(alert.fromMs, fromMs);
      alert.toMs = Math.max(alert.toMs, toMs);
      alert.resolvesAtMs = Math.max(alert.toMs, this.#timeMs) + quietMs;
    }
    if (near === undefined) {
      this.#keep(alert);
    }
    this.#tell('hit', alert, windowMs);
    if (alert.hits === hold && alert.resolvedAtMs === null) {
      alert.toldAtMs = this.#timeMs;
      this.#tell('told', alert, windowMs);
    }
  }

  #open(windowMs: number, group: readonly GroupValue[]): Mutable<Alert> {
    while (this.#alerts.size >= this.#maxAlerts) {
      const oldest = [...this.#alerts].find(({ resolvedAtMs }) => resolvedAtMs !== null) ?? [...this.#alerts][0];
      if (oldest === undefined) break;
      if (oldest.resolvedAtMs === null) this.#bounded += 1;
      this.#resolve(oldest);
      this.#forget(oldest);
    }
    const id = alertId(this.#rule.name, this.#version, group, windowMs);
    const toMs = windowMs + this.#rule.windowMs;
    return {
      id,
      group,
      windowMs,
      fromMs: windowMs,
      toMs,
      hits: 0,
      toldAtMs: null,
      resolvesAtMs: 0,
      resolvedAtMs: null,
      isBounded: this.#bounded > 0,
    };
  }

  #keep(alert: Mutable<Alert>): void {
    const key = groupKey(alert.group);
    const ofGroup = this.#ofGroup.get(key) ?? new Set();
    this.#ofGroup.set(key, ofGroup.add(alert));
    this.#alerts.add(alert);
    if (alert.resolvedAtMs === null) {
      this.#due.add({ atMs: alert.resolvesAtMs, kind: 'resolve', windowMs: alert.windowMs, group: key });
    }
  }

  #forget(alert: Mutable<Alert>): void {
    const key = groupKey(alert.group);
    const ofGroup = this.#ofGroup.get(key);
    ofGroup?.delete(alert);
    if (ofGroup?.size === 0) this.#ofGroup.delete(key);
    this.#alerts.delete(alert);
  }

  #tell(kind: FoldNews['kind'], alert: Alert, windowMs: number): void {
    const snapshot = { ...alert };
    this.#news.push(kind === 'hit' ? { kind, windowMs, alert: snapshot } : { kind, alert: snapshot });
  }

  #resolve(alert: Mutable<Alert>): void {
    if (alert.resolvedAtMs === null) {
      alert.resolvedAtMs = this.#timeMs;
      this.#tell('resolved', alert, alert.windowMs);
    }
  }

  /** Works off what is due by a time, each at its own, and lets it be that time then. */
  #workOff(timeMs: number): void {
    for (let due = this.#due.first; due !== undefined && due.atMs <= timeMs; due = this.#due.first) {
      this.#due.removeFirst();
      this.#timeMs = Math.max(this.#timeMs, due.atMs);
      if (due.kind === 'close') this.#closeDue(due);
      else this.#resolveDue(due);
    }
    this.#timeMs = Math.max(this.#timeMs, timeMs);
  }

  #closeDue({ atMs, windowMs }: Due): void {
    // A window may have closed early, of which a fold that goes on from a state knows nothing.
    if (this.#windows.get(windowMs)?.closesAtMs !== atMs) return;
    this.#close(windowMs);
    // What no event that is kept can belong to, or touch.
    const lastForgottenMs = this.#timeMs - this.#retentionMs - this.#rule.windowMs;
    this.#closed.forget(lastForgottenMs);
    for (const alert of this.#alerts) {
      if (alert.resolvedAtMs === null || alert.toMs + this.#rule.quietMs > lastForgottenMs) break;
      this.#forget(alert);
    }
  }

  #resolveDue({ atMs, windowMs, group }: Due): void {
    const alert = [...(this.#ofGroup.get(group) ?? [])].find((one) => one.windowMs === windowMs && one.resolvedAtMs === null);
    if (alert === undefined) return;
    if (alert.resolvesAtMs === atMs) this.#resolve(alert);
    // It had further hits.
    else this.#due.add({ atMs: alert.resolvesAtMs, kind: 'resolve', windowMs, group });
  }
}

import { alertId, type GroupValue, groupKey, groupValues } from './alert-group.ts';
import type { Due, DueTimes } from './due-times.ts';
import type { Alert, FoldChanges, FoldFacts, FoldParts, Mutable } from './fold-state.ts';
import { Heap } from './heap.ts';
import { type AlertRule, versionOf } from './rule.ts';

/** What an event, or the time, brings about: a window of a group met the condition, or an alert is told or resolved. */
export interface FoldNews {
  readonly kind: 'hit' | 'told' | 'resolved';
  /** That of the group, as it is then. */
  readonly alert: Alert;
  /** The begin of the window that met the condition, or of the alert's first one. */
  readonly windowMs: number;
}

/** The most alerts that a rule keeps: the oldest resolved ones give way, and without one the oldest of all, which is resolved early. */
export const MAX_ALERTS = 100_000;

/** The alerts of a rule, which hits open and join, and which resolve when their time has come. */
export class AlertBook {
  readonly #rule: AlertRule;
  readonly #version: string;
  readonly #facts: Mutable<FoldFacts>;
  readonly #dues: DueTimes;
  readonly #maxAlerts: number;
  /** In the order in which they were opened; by the key of their group, too. */
  readonly #alerts = new Set<Mutable<Alert>>();
  readonly #ofGroup = new Map<string, Set<Mutable<Alert>>>();
  /** Those that are resolved. One that is forgotten is taken out when it comes first. */
  readonly #resolved = new Heap<Mutable<Alert>>((one, other) => one.nth < other.nth);
  readonly #changed = new Set<Mutable<Alert>>();
  #news: FoldNews[] = [];
  #gone: number[] = [];

  /** `alerts` are those that are kept already. */
  constructor({ rule, facts, dues }: Pick<FoldParts, 'rule' | 'facts' | 'dues'>, alerts: readonly Alert[], maxAlerts: number) {
    this.#rule = rule;
    this.#version = versionOf(rule);
    this.#facts = facts;
    this.#dues = dues;
    this.#maxAlerts = maxAlerts;
    for (const alert of alerts) {
      this.#keep({ ...alert });
      facts.opened = Math.max(facts.opened, alert.nth);
    }
  }

  /** A window of a group met the condition by what happened at a time. */
  hit(windowMs: number, group: string, completedAtMs: number): void {
    const { windowMs: lengthMs, quietMs, hold } = this.#rule;
    const [fromMs, toMs] = [windowMs, windowMs + lengthMs];
    const near = this.#firstOf(group, (one) => fromMs < one.toMs + quietMs && toMs > one.fromMs - quietMs);
    const alert = near ?? this.#open(windowMs, groupValues(group));
    alert.hits += 1;
    if (alert.resolvedAtMs === null) {
      alert.fromMs = Math.min(alert.fromMs, fromMs);
      alert.toMs = Math.max(alert.toMs, toMs);
      alert.resolvesAtMs = Math.max(alert.toMs, this.#facts.timeMs) + quietMs;
    }
    if (near === undefined) this.#keep(alert);
    this.#tell('hit', alert, windowMs);
    if (alert.hits === hold && alert.resolvedAtMs === null) {
      alert.toldAtMs = this.#facts.timeMs;
      alert.completedAtMs = completedAtMs;
      this.#tell('told', alert, windowMs);
    }
  }

  /** The time has come at which an alert was to be resolved. */
  resolveDue({ atMs, windowMs, group }: Due): void {
    const alert = this.#firstOf(group, (one) => one.windowMs === windowMs && one.resolvedAtMs === null);
    if (alert === undefined) return;
    if (alert.resolvesAtMs === atMs) this.#resolve(alert);
    // It had further hits.
    else this.#dues.add({ atMs: alert.resolvesAtMs, kind: 'resolve', windowMs, group });
  }

  /** Forgets the resolved alerts that no window from a time on touches. */
  forget(untilMs: number): void {
    for (const alert of this.#alerts) {
      if (alert.resolvedAtMs === null || alert.toMs + this.#rule.quietMs > untilMs) break;
      this.#forget(alert);
    }
  }

  takeNews(): readonly FoldNews[] {
    const news = this.#news;
    if (news.length > 0) this.#news = [];
    return news;
  }

  takeChanges(): Pick<FoldChanges, 'alerts' | 'goneAlerts'> {
    const changes = { alerts: [...this.#changed].map((alert) => ({ ...alert })), goneAlerts: this.#gone };
    this.#changed.clear();
    this.#gone = [];
    return changes;
  }

  #open(windowMs: number, group: readonly GroupValue[]): Mutable<Alert> {
    while (this.#alerts.size >= this.#maxAlerts) {
      const oldest = this.#oldestResolved() ?? this.#alerts.values().next().value;
      if (oldest === undefined) break;
      if (oldest.resolvedAtMs === null) this.#facts.bounded += 1;
      this.#resolve(oldest);
      this.#forget(oldest);
    }
    this.#facts.opened += 1;
    return {
      nth: this.#facts.opened,
      id: alertId(this.#rule.name, this.#version, group, windowMs),
      group,
      windowMs,
      fromMs: windowMs,
      toMs: windowMs + this.#rule.windowMs,
      hits: 0,
      toldAtMs: null,
      completedAtMs: null,
      resolvesAtMs: 0,
      resolvedAtMs: null,
      isBounded: this.#facts.bounded > 0,
    };
  }

  #firstOf(group: string, isWanted: (alert: Alert) => boolean): Mutable<Alert> | undefined {
    for (const alert of this.#ofGroup.get(group) ?? []) if (isWanted(alert)) return alert;
    return undefined;
  }

  #oldestResolved(): Mutable<Alert> | undefined {
    for (let first = this.#resolved.first; first !== undefined; first = this.#resolved.first) {
      if (this.#alerts.has(first)) return first;
      this.#resolved.removeFirst();
    }
    return undefined;
  }

  #keep(alert: Mutable<Alert>): void {
    const key = groupKey(alert.group);
    const ofGroup = this.#ofGroup.get(key) ?? new Set();
    this.#ofGroup.set(key, ofGroup.add(alert));
    this.#alerts.add(alert);
    if (alert.resolvedAtMs === null) {
      this.#dues.add({ atMs: alert.resolvesAtMs, kind: 'resolve', windowMs: alert.windowMs, group: key });
    } else {
      this.#resolved.add(alert);
    }
  }

  #forget(alert: Mutable<Alert>): void {
    const key = groupKey(alert.group);
    const ofGroup = this.#ofGroup.get(key);
    ofGroup?.delete(alert);
    if (ofGroup?.size === 0) this.#ofGroup.delete(key);
    this.#alerts.delete(alert);
    this.#gone.push(alert.nth);
  }

  #tell(kind: FoldNews['kind'], alert: Mutable<Alert>, windowMs: number): void {
    this.#changed.add(alert);
    this.#news.push({ kind, windowMs, alert: { ...alert } });
  }

  #resolve(alert: Mutable<Alert>): void {
    if (alert.resolvedAtMs === null) {
      alert.resolvedAtMs = this.#facts.timeMs;
      this.#resolved.add(alert);
      this.#tell('resolved', alert, alert.windowMs);
    }
  }
}

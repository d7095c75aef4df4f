import { alertId, type CountedEvent, groupKey, keptValue } from '../../alerts/alert-group.ts';
import { type AlertRule, versionOf } from '../../alerts/rule.ts';

/** An event in one of its windows. */
interface Counted {
  readonly window: number;
  readonly group: string;
  readonly value: string | undefined;
}

interface ModelAlert {
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
 * no bounds. Rules of it have one dimension, `country`, and `distinct` is of `ip`.
 */
export class FoldModel {
  readonly news: string[] = [];
  tooLate = 0;
  readonly #rule: AlertRule;
  #time = 0;
  readonly #counted: Counted[] = [];
  readonly #firstTimes = new Map<number, number>();
  readonly #closed = new Set<number>();
  readonly #hits = new Set<string>();
  readonly #alerts: ModelAlert[] = [];

  constructor(rule: AlertRule) {
    this.#rule = rule;
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

  count({ timestamp, ingestedAtMs, fields }: CountedEvent): void {
    this.advance(ingestedAtMs);
    const step = this.#rule.windowMs / 2;
    const group = fields.country ?? '';
    for (const window of [Math.floor(timestamp / step) - 1, Math.floor(timestamp / step)].map((nth) => nth * step)) {
      if (this.#closed.has(window)) {
        this.tooLate += 1;
        continue;
      }
      if (!this.#firstTimes.has(window)) this.#firstTimes.set(window, this.#time);
      this.#counted.push({ window, group, value: fields.ip });
      const inWindow = this.#counted.filter((one) => one.window === window && one.group === group);
      const values = new Set(inWindow.map(({ value }) => value).filter((value) => value !== undefined));
      const { kind, atLeast } = this.#rule.kind;
      if ((kind === 'count' ? inWindow.length : values.size) >= atLeast && !this.#hits.has(`${window} ${group}`)) {
        this.#hits.add(`${window} ${group}`);
        this.#hit(window, group);
      }
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
    return alertId(this.#rule.name, versionOf(this.#rule), [keptValue(group)], window);
  }

  #dues() {
    const { windowMs, quietMs, lateMs } = this.#rule;
    const resolving = this.#alerts
      .filter(({ isResolved }) => !isResolved)
      .map((alert) => ({
        at: Math.max(alert.to, alert.lastHitTime) + quietMs,
        rank: 0,
        window: alert.window,
        group: groupKey([keptValue(alert.group)]),
        work: () => {
          alert.isResolved = true;
          this.news.push(`resolved ${this.#idOf(alert)} at ${this.#time} after ${alert.hits}`);
        },
      }));
    const closing = [...this.#firstTimes]
      .filter(([window]) => !this.#closed.has(window))
      .map(([window, firstTime]) => ({
        at: Math.max(window + windowMs, firstTime) + lateMs,
        rank: 1,
        window,
        group: '',
        work: () => void this.#closed.add(window),
      }));
    return [...resolving, ...closing];
  }
}

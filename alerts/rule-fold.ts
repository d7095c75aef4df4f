import { MINUTE_MS } from '../query/durations.ts';
import { type MatchSubject, matchSubject } from '../query/match/match-event.ts';
import { type Alert, AlertBook, type FoldNews, MAX_ALERTS } from './alert-book.ts';
import { type CountedEvent, fieldValue, groupKey, keptValue } from './alert-group.ts';
import { DueTimes } from './due-times.ts';
import { EntryBudget } from './entry-budget.ts';
import { type FoldChanges, type FoldFacts, type FoldState, type Mutable, NO_FACTS } from './fold-state.ts';
import { type AlertRule, readBackMs } from './rule.ts';
import { silentZones, type ZoneActivity } from './silent-zones.ts';
import { ValueMemory } from './value-memory.ts';
import { type FoldParts, WindowCounts } from './window-counts.ts';

const NOTHING = { windows: [], closed: [], entries: [], values: [], remembered: [] };

export interface RuleFoldOptions {
  /** For how long events are kept: what is older comes no more. */
  readonly retentionMs: number;
  /** The intake time at which a new rule began, Unix ms UTC. It reads from `readBackMs` before that on. */
  readonly begunAtMs?: number;
  /** The alerts that a new rule has already, because all else that was known of it is lost. */
  readonly alerts?: readonly Alert[];
  /** What it goes on from. */
  readonly state?: FoldState;
  /** What all rules share. */
  readonly budget?: EntryBudget;
  readonly maxAlerts?: number;
}

/**
 * Makes alerts of the events of a rule, in the order of the feed. Windows are of the time of events, and all waiting is of the time of
 * their intake, so that neither a clock nor the pages in which events are read change what comes out. Of `silence` alone the clock decides.
 */
export class RuleFold {
  readonly #rule: AlertRule;
  readonly #retentionMs: number;
  readonly #facts: Mutable<FoldFacts>;
  readonly #dues = new DueTimes();
  readonly #book: AlertBook;
  readonly #windows: WindowCounts;
  readonly #memory: ValueMemory;
  readonly #budget: EntryBudget;
  /** Whether anything but the time may be different since the last changes were taken. A new rule is. */
  #isTouched: boolean;
  /** How often something had been given up by then. */
  #takenBounded: number;

  constructor(rule: AlertRule, options: RuleFoldOptions) {
    const { retentionMs, begunAtMs = 0, alerts = [], state, budget = new EntryBudget(), maxAlerts = MAX_ALERTS } = options;
    this.#rule = rule;
    this.#retentionMs = retentionMs;
    const { facts, ...kept } = state ?? { facts: begunFacts(rule, begunAtMs, retentionMs), ...NOTHING, alerts };
    this.#facts = { ...NO_FACTS, ...facts };
    const dues = this.#dues;
    this.#book = new AlertBook({ rule, facts: this.#facts, dues, alerts: kept.alerts, maxAlerts });
    const parts: FoldParts = { rule, retentionMs, facts: this.#facts, dues, book: this.#book, budget };
    this.#windows = new WindowCounts(parts, kept);
    this.#memory = new ValueMemory(parts, kept.remembered);
    this.#budget = budget;
    this.#isTouched = state === undefined;
    this.#takenBounded = this.#facts.bounded;
    budget.add(this);
  }

  get facts(): FoldFacts {
    return { ...this.#facts };
  }

  /** In the order in which they were opened. */
  get alerts(): readonly Alert[] {
    return this.#book.alerts;
  }

  get state(): FoldState {
    return { facts: this.facts, ...this.#windows.state, remembered: this.#memory.state, alerts: this.alerts };
  }

  /**
   * What is different since the last call; null where nothing is but the time. A fold that goes on from all changes so far is the same as
   * this one once it has been told the time by `completeTo`.
   */
  takeChanges(): FoldChanges | null {
    // Others of the budget may have had it give up something.
    if (!this.#isTouched && this.#facts.bounded === this.#takenBounded) return null;
    this.#isTouched = false;
    this.#takenBounded = this.#facts.bounded;
    return { facts: this.facts, ...this.#windows.takeChanges(), ...this.#memory.takeChanges(), ...this.#book.takeChanges() };
  }

  /** Counts an event that the rule is about, after all that was due when it came in. */
  count(event: CountedEvent, subject: MatchSubject = matchSubject(event.fields)): readonly FoldNews[] {
    this.#isTouched = true;
    this.#facts.counted += 1;
    this.advanceTo(event.ingestedAtMs);
    const group = groupKey(this.#rule.by.map((dimension) => keptValue(fieldValue(event, dimension) ?? '')));
    if (this.#rule.kind.kind === 'new_value') this.#memory.count(event, group);
    else this.#windows.count(event, group, subject);
    return this.#book.takeNews();
  }

  /** Notes how many events of the rule's zones were read. That alone is no change. */
  addRead(events: number): void {
    this.#facts.read += events;
  }

  /** Works off what is due by the time up to which all events were counted. */
  completeTo(timeMs: number): readonly FoldNews[] {
    this.advanceTo(timeMs);
    return this.#book.takeNews();
  }

  /** Of a rule of the kind `silence`: looks once a minute at the last events of all zones that had some within a day. */
  lookAt(zones: readonly ZoneActivity[], nowMs: number): readonly FoldNews[] {
    const { kind } = this.#rule;
    if (kind.kind !== 'silence') return [];
    this.#isTouched = true;
    const ruled = zones.filter(({ zoneId }) => this.#rule.zones === 'all' || this.#rule.zones.includes(zoneId));
    const silent = silentZones(ruled, { silentForMs: kind.forMs, sinceMs: this.#facts.hitsFromMs, nowMs });
    this.#facts.timeMs = Math.max(this.#facts.timeMs, nowMs);
    const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    for (const zone of silent) this.#book.hit(minuteMs, groupKey([{ text: String(zone) }]), nowMs);
    return this.completeTo(nowMs);
  }

  /** Resolves all alerts and gives up all else, because the rule is gone. */
  end(): readonly FoldNews[] {
    this.#isTouched = true;
    this.#book.resolveAll();
    this.#windows.end();
    this.#memory.end();
    this.#budget.remove(this);
    return this.#book.takeNews();
  }

  /** Works off what is due by a time, each at its own, and lets it be that time then. What comes of it is told by the next call. */
  advanceTo(timeMs: number): void {
    for (let due = this.#dues.first; due !== undefined && due.atMs <= timeMs; due = this.#dues.first) {
      this.#dues.removeFirst();
      this.#isTouched = true;
      const { atMs, kind, windowMs, group } = due;
      this.#facts.timeMs = Math.max(this.#facts.timeMs, atMs);
      switch (kind) {
        case 'decide':
          this.#windows.decide(atMs, windowMs);
          break;
        case 'resolve':
          this.#book.resolveDue(atMs, windowMs, group);
          break;
        case 'close':
          if (this.#windows.close(atMs, windowMs)) this.#forgetOld();
          break;
        case 'forget':
          if (this.#memory.forget(atMs, group)) this.#forgetOld();
          break;
        default:
          kind satisfies never;
      }
    }
    this.#facts.timeMs = Math.max(this.#facts.timeMs, timeMs);
  }

  /** Forgets what no event that is kept can belong to, or touch. */
  #forgetOld(): void {
    const untilMs = this.#facts.timeMs - this.#retentionMs - this.#rule.windowMs;
    this.#windows.forgetClosed(untilMs);
    this.#book.forget(untilMs);
  }
}

function begunFacts(rule: AlertRule, begunAtMs: number, retentionMs: number): FoldFacts {
  const { kind } = rule.kind;
  const isLater = kind === 'more_than_before' || kind === 'new_value' || kind === 'silence';
  const readFromMs = begunAtMs - readBackMs(rule, retentionMs);
  return { ...NO_FACTS, hitsFromMs: isLater ? begunAtMs : 0, historyFromMs: kind === 'more_than_before' ? readFromMs : 0 };
}

import { MINUTE_MS } from '../query/durations.ts';
import { type MatchSubject, matchSubject } from '../query/match/match-event.ts';
import type { ActiveZone } from '../store/event-store.ts';
import { AlertBook, type FoldNews, MAX_ALERTS } from './alert-book.ts';
import { type CountedEvent, fieldValue, groupKey, keptValue } from './alert-group.ts';
import { DueTimes } from './due-times.ts';
import { EntryBudget } from './entry-budget.ts';
import type { Alert, FoldChanges, FoldFacts, FoldState, Mutable } from './fold-state.ts';
import { type AlertRule, readBackMs } from './rule.ts';
import { SeenValues } from './seen-values.ts';
import { WindowCounts } from './window-counts.ts';

export interface RuleFoldOptions {
  /** For how long events are kept: what is older comes no more. */
  readonly retentionMs: number;
  /** The intake time at which a new rule began, Unix ms UTC. It reads from `readBackMs` before that on. */
  readonly begunAtMs?: number;
  /** Those that it has already, in the order in which they were opened. */
  readonly alerts?: readonly Alert[];
  /** What it goes on from; absent: it is new, or all that was known of it but its alerts is lost. */
  readonly state?: FoldState | undefined;
  /** What all rules share. */
  readonly budget?: EntryBudget;
  readonly maxAlerts?: number;
}

/** When a zone had its last event, Unix ms UTC. */
export type ZoneActivity = Pick<ActiveZone, 'zoneId' | 'lastMs'>;

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
  readonly #counts: WindowCounts | SeenValues;
  /** Whether anything but the time may be different since the last changes were taken. A new rule is. */
  #isTouched: boolean;
  /** How often something had been given up by then. */
  #takenBounded: number;

  constructor(rule: AlertRule, options: RuleFoldOptions) {
    const { retentionMs, begunAtMs = 0, alerts = [], state, budget = new EntryBudget(), maxAlerts = MAX_ALERTS } = options;
    this.#rule = rule;
    this.#retentionMs = retentionMs;
    const known = state ?? { facts: begunFacts(rule, begunAtMs, retentionMs), closed: [], rows: [] };
    const facts = { ...known.facts };
    const dues = this.#dues;
    this.#facts = facts;
    this.#book = new AlertBook({ rule, facts, dues }, alerts, maxAlerts);
    const parts = { rule, retentionMs, facts, dues, book: this.#book, budget };
    this.#counts = rule.kind.kind === 'new_value' ? new SeenValues(parts, rule.kind, known) : new WindowCounts(parts, known);
    this.#isTouched = state === undefined;
    this.#takenBounded = facts.bounded;
    budget.add(this);
  }

  get facts(): FoldFacts {
    return { ...this.#facts };
  }

  /**
   * What is different since the last call, or where `isWhole` all of it; null where nothing is different but the time. A fold that goes on
   * from all changes so far is the same as this one once it has been told the time by `completeTo`.
   */
  takeChanges({ isWhole = false } = {}): FoldChanges | null {
    // Others of the budget may have had it give up something.
    if (!this.#isTouched && this.#facts.bounded === this.#takenBounded) return null;
    this.#isTouched = false;
    this.#takenBounded = this.#facts.bounded;
    if (isWhole) this.#counts.markAll();
    return { isWhole, facts: this.facts, ...this.#counts.takeChanges(), ...this.#book.takeChanges() };
  }

  /** Counts an event that the rule is about, after all that was due when it came in. */
  count(event: CountedEvent, subject: MatchSubject = matchSubject(event.fields)): readonly FoldNews[] {
    this.#isTouched = true;
    this.#facts.counted += 1;
    this.advanceTo(event.ingestedAtMs);
    const group = groupKey(this.#rule.by.map((dimension) => keptValue(fieldValue(event, dimension) ?? '')));
    this.#counts.count(event, group, subject);
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

  /**
   * Of a rule of the kind `silence`: looks once a minute at the zones that had events within a day, and finds those whose last one is too
   * long ago. A zone whose last event is from before the rule began was silent before anybody looked.
   */
  lookAt(zones: readonly ZoneActivity[], nowMs: number): readonly FoldNews[] {
    const { kind, zones: ruled } = this.#rule;
    if (kind.kind !== 'silence') return [];
    this.#isTouched = true;
    this.#facts.timeMs = Math.max(this.#facts.timeMs, nowMs);
    const { hitsFromMs } = this.#facts;
    const silent = zones.filter(({ zoneId, lastMs }) => {
      return (ruled === 'all' || ruled.includes(zoneId)) && lastMs >= hitsFromMs && lastMs < nowMs - kind.forMs;
    });
    const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    for (const { zoneId } of silent.toSorted((one, other) => one.zoneId - other.zoneId)) {
      this.#book.hit(minuteMs, groupKey([{ text: String(zoneId) }]), nowMs);
    }
    return this.completeTo(nowMs);
  }

  /** Works off what is due by a time, each at its own, and lets it be that time then. What comes of it is told by the next call. */
  advanceTo(timeMs: number): void {
    for (let due = this.#dues.first; due !== undefined && due.atMs <= timeMs; due = this.#dues.first) {
      this.#dues.removeFirst();
      this.#isTouched = true;
      this.#facts.timeMs = Math.max(this.#facts.timeMs, due.atMs);
      if (due.kind === 'resolve') {
        this.#book.resolveDue(due);
      } else if (this.#counts.workOff(due)) {
        // No event that is kept can touch older alerts.
        this.#book.forget(this.#facts.timeMs - this.#retentionMs - this.#rule.windowMs);
      }
    }
    this.#facts.timeMs = Math.max(this.#facts.timeMs, timeMs);
  }
}

function begunFacts(rule: AlertRule, begunAtMs: number, retentionMs: number): FoldFacts {
  const { kind } = rule.kind;
  const isLater = kind === 'more_than_before' || kind === 'new_value' || kind === 'silence';
  const historyFromMs = kind === 'more_than_before' ? begunAtMs - readBackMs(rule, retentionMs) : 0;
  return { timeMs: 0, tooLate: 0, bounded: 0, opened: 0, read: 0, counted: 0, hitsFromMs: isLater ? begunAtMs : 0, historyFromMs };
}

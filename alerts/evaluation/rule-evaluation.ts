import { MINUTE_MS } from '../../query/durations.ts';
import { matchSubject } from '../../query/match/match-event.ts';
import { type FoldNews, MAX_ALERTS } from '../alert-book.ts';
import { EntryBudget } from '../entry-budget.ts';
import type { Alert } from '../fold-state.ts';
import { type AlertRule, readBackMs, versionOf } from '../rule.ts';
import { isRule, readRule } from '../rule-file.ts';
import { RuleFold, type ZoneActivity } from '../rule-fold.ts';
import { RuleSet } from '../rule-set.ts';
import { AlertState, type CursorRefusal, type EvaluationProgress, type Silence, type StoredRule } from './alert-state.ts';
import type { AlertsOverview, EvaluationFacts } from './alerts-overview.ts';
import { eventsIn, type PageOfEvents, type WantedPage } from './feed-pages.ts';
import type { EarlyEnd, NewMessage, Told, WaitingMessages } from './outbox.ts';

/** Where nothing but the time moves on, it is written after so long, because each write waits for the disk. */
const TIME_WRITTEN_MS = MINUTE_MS;

/** A file of a rule. */
export interface RuleText {
  readonly file: string;
  readonly text: string;
}

export interface EvaluationOptions {
  /** The file of the state. */
  readonly file: string;
  /** Files of rules that are right. */
  readonly rules: readonly RuleText[];
  /** The names of files that are wrong: the rules that were read from them stay as they were. */
  readonly wrongFiles: readonly string[] | 'all';
  /** For how long events are kept. */
  readonly retentionMs: number;
  /** The queues of every alert, whether or not it is sent to receivers. */
  readonly alsoTo: readonly string[];
  /** The zone of alerts, which `zones: all` leaves out. */
  readonly exceptZone?: number;
  /** The most alerts that a rule keeps; absent: `MAX_ALERTS`. */
  readonly maxAlerts?: number;
}

/** When a state is opened, and how many files of it were damaged and set aside before. */
export interface Opening {
  /** The clock, at which messages of rules that are gone or changed are queued, Unix ms UTC. */
  readonly nowMs: number;
  readonly damaged: number;
}

export interface NextStep {
  /** Null: there is no rule. */
  readonly wanted: WantedPage | null;
  readonly facts: EvaluationFacts;
  /** Whether there are new messages in the outbox. */
  readonly hasQueued: boolean;
}

/** A rule that is evaluated. */
interface Reader {
  stored: StoredRule;
  readonly rule: AlertRule;
  readonly fold: RuleFold;
  /** What came of the page that is being counted. */
  news: FoldNews[];
}

/** Rules that read together. */
interface Readers {
  readonly wanted: WantedPage;
  readonly readers: readonly Reader[];
  readonly set: RuleSet;
}

/**
 * Counts the events of the feed for all rules, and keeps what they know. A page is counted in one transaction with the cursor of its end,
 * so that the next process goes on as if nothing had happened. After an error it is not used again: the file is right, and memory may be
 * ahead.
 */
export class RuleEvaluation implements Disposable {
  readonly #options: EvaluationOptions;
  readonly #state: AlertState;
  #progress: EvaluationProgress;
  /** The time in the progress that is written. */
  #writtenMs = 0;
  #readers: Reader[] = [];
  /** Who wants the page that was asked for last. */
  #asked: Readers | undefined;
  /** The last readers that were together, by their ids. */
  readonly #sets = new Map<string, RuleSet>();
  #hasQueued = false;

  /** Opens the state, ends the rules that are gone or changed, and adds the new ones. Throws as `AlertState` does. */
  constructor(options: EvaluationOptions, { nowMs, damaged }: Opening) {
    this.#options = options;
    this.#state = new AlertState(options.file, damaged);
    try {
      this.#progress = this.#state.progress;
      this.#state.transaction(() => this.#reconcile(nowMs));
      this.#restart();
    } catch (error) {
      this.#state[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#state[Symbol.dispose]();
  }

  /** The rule in force of that name and version. */
  ruleOf(name: string, version: string): AlertRule | undefined {
    return this.#readers.find(({ stored }) => stored.name === name && stored.version === version)?.rule;
  }

  /** Which page to read next. */
  next(): NextStep {
    this.#asked = this.#ask();
    const hasQueued = this.#hasQueued;
    this.#hasQueued = false;
    return { wanted: this.#asked?.wanted ?? null, facts: this.#facts, hasQueued };
  }

  /** Counts the page that was asked for last; another one is passed over. `nowMs` is the clock, at which messages are queued. */
  takePage(page: PageOfEvents, nowMs: number): NextStep {
    const asked = this.#asked;
    if (asked?.wanted.key === page.key) this.#state.transaction(() => this.#take(page, asked, nowMs));
    return this.next();
  }

  /** Lets rules of the kind `silence` look at the last events of all zones that had some within a day. */
  look(zones: readonly ZoneActivity[], nowMs: number): NextStep {
    const others = zones.filter(({ zoneId }) => zoneId !== this.#options.exceptZone);
    const looking = this.#readers.filter(({ rule, stored }) => rule.kind.kind === 'silence' && stored.after === null);
    this.#state.transaction(() => {
      for (const reader of looking) {
        reader.news.push(...reader.fold.lookAt(others, nowMs));
        this.#keep(reader, nowMs);
      }
      if (this.#hasQueued) this.#writeProgress();
    });
    return this.next();
  }

  /**
   * A cursor of the page that was asked for last is refused: where it begins, or that of the rules that have joined, up to which it goes.
   * `goesOn` is the one to go on with; null: rules begin as new ones, and keep their alerts.
   */
  refuse(key: string, place: 'after' | 'until', refusal: CursorRefusal, goesOn: string | null): NextStep {
    const asked = this.#asked;
    if (asked?.wanted.key !== key) return this.next();
    const isOfJoined = place === 'until' || asked.wanted.until === null;
    this.#state.transaction(() => {
      const { refusals } = this.#progress;
      const joined = goesOn === null ? { cursor: null, completeToMs: 0 } : { cursor: goesOn };
      const counted = { ...refusals, [refusal]: (refusals[refusal] ?? 0) + 1, last: refusal };
      this.#progress = { ...this.#progress, refusals: counted, ...(isOfJoined && joined) };
      this.#writeProgress();
      for (const reader of isOfJoined ? this.#readers : asked.readers) {
        if (goesOn === null) this.#beginAnew(reader);
        else if (!isOfJoined) this.#change(reader, { after: { cursor: goesOn } });
      }
    });
    if (goesOn === null) this.#restart();
    return this.next();
  }

  waiting(...values: Parameters<AlertState['outbox']['waiting']>): WaitingMessages | null {
    return this.#state.outbox.waiting(...values);
  }

  settle(...values: Parameters<AlertState['outbox']['settle']>): void {
    this.#state.transaction(() => this.#state.outbox.settle(...values));
  }

  giveUp(...values: Parameters<AlertState['outbox']['giveUp']>): number {
    return this.#state.transaction(() => this.#state.outbox.giveUp(...values));
  }

  addSilence(silence: Omit<Silence, 'id'>): Silence {
    const id = this.#state.transaction(() => {
      this.#state.removeEndedSilences(this.#progress.completeToMs - this.#options.retentionMs);
      return this.#state.addSilence(silence);
    });
    return { ...silence, id };
  }

  /** Returns whether there was one. */
  removeSilence(id: number): boolean {
    return this.#state.transaction(() => this.#state.removeSilence(id));
  }

  /** All rules and silences, and the last alerts and messages, at most `limit` of each. */
  overview({ limit }: { readonly limit: number }): AlertsOverview {
    const rules = this.#readers.map(({ stored: { id, name, version, after, unreadable }, rule, fold }) => {
      return { name, version, hasJoined: after === null, unreadable, rule, ...fold.facts, open: this.#state.countOpen(id) };
    });
    const { outbox, silences } = this.#state;
    return { facts: this.#facts, rules, alerts: this.#state.latestTold(limit), deliveries: outbox.latest(limit), silences };
  }

  get #facts(): EvaluationFacts {
    const looksAtZones = this.#readers.some(({ rule }) => rule.kind.kind === 'silence');
    return { ...this.#progress, rules: this.#readers.length, looksAtZones };
  }

  #reconcile(nowMs: number): void {
    const { wrongFiles, retentionMs } = this.#options;
    const given = new Map(
      this.#options.rules.map(({ file, text }) => {
        const rule = readRule(text);
        return [rule.name, { rule, version: versionOf(rule), file, text }];
      }),
    );
    const { rules } = this.#state;
    // What was stored while there was no rule is of no interest.
    if (rules.length === 0) this.#progress = { ...this.#progress, cursor: null, completeToMs: 0 };
    for (const stored of rules) {
      const now = given.get(stored.name);
      if (now?.version === stored.version) {
        given.delete(stored.name);
        this.#state.setRule({ ...stored, file: now.file, text: now.text });
      } else if (now !== undefined) {
        this.#end(stored, 'rule_changed', nowMs);
      } else if ((wrongFiles !== 'all' && !wrongFiles.includes(stored.file)) || !isRule(stored.text)) {
        this.#end(stored, 'rule_gone', nowMs);
      }
    }
    for (const [name, { rule, ...more }] of given) this.#state.addRule({ name, ...more, ...this.#begun(rule), unreadable: 0 });
    this.#state.removeEndedAlerts(this.#progress.completeToMs - retentionMs);
    this.#writeProgress();
  }

  /** Removes a rule. Its alerts are resolved. */
  #end(rule: StoredRule, earlyEnd: EarlyEnd, nowMs: number): void {
    for (const alert of this.#state.alertsOf(rule.id).filter(({ resolvedAtMs }) => resolvedAtMs === null)) {
      const resolvedAtMs = Math.max(alert.toldAtMs ?? 0, this.#progress.completeToMs);
      this.#state.endEarly(rule.id, { ...alert, resolvedAtMs }, earlyEnd);
      this.#sendResolved({ ...alert, resolvedAtMs }, earlyEnd, nowMs);
    }
    this.#state.removeRule(rule.id);
  }

  /** Has all folds made of the state. */
  #restart(): void {
    const [budget, { retentionMs, maxAlerts = MAX_ALERTS }] = [new EntryBudget(), this.#options];
    this.#readers = this.#state.rules.map((stored) => {
      const { id, text, begunAtMs, after } = stored;
      const rule = readRule(text);
      const [alerts, state] = [this.#state.alertsOf(id), this.#state.folds.read(id)];
      const fold = new RuleFold(rule, { retentionMs, budget, begunAtMs, alerts, state, maxAlerts });
      // What was due by then was worked off, and only the time was not written.
      if (after === null) fold.completeTo(this.#progress.completeToMs);
      return { stored, rule, fold, news: [] };
    });
  }

  /** Lets a rule forget all but its alerts, and begin at the time up to which everything was read. */
  #beginAnew(reader: Reader): void {
    this.#state.folds.clear(reader.stored.id);
    this.#change(reader, this.#begun(reader.rule));
  }

  /** A rule that begins now reads back what it compares with. */
  #begun(rule: AlertRule): Pick<StoredRule, 'begunAtMs' | 'after'> {
    const { completeToMs: begunAtMs } = this.#progress;
    return { begunAtMs, after: { atMs: begunAtMs - readBackMs(rule, this.#options.retentionMs) } };
  }

  #change(reader: Reader, change: Partial<StoredRule>): void {
    reader.stored = { ...reader.stored, ...change };
    this.#state.setRule(reader.stored);
  }

  #writeProgress(): void {
    this.#state.setProgress(this.#progress);
    this.#writtenMs = this.#progress.completeToMs;
  }

  /** Rules that have joined and others take turns. */
  #ask(): Readers | undefined {
    const { cursor } = this.#progress;
    if (this.#readers.length === 0) return undefined;
    if (cursor === null) return this.#readersOf([], 'newest', null);
    const joined = this.#readers.filter(({ stored }) => stored.after === null);
    const after = this.#readers.find(({ stored }) => stored.after !== null)?.stored.after ?? null;
    const wasOfOthers = typeof this.#asked?.wanted.until === 'string';
    if (after === null || (wasOfOthers && joined.length > 0)) return this.#readersOf(joined, { cursor }, null);
    const together = this.#readers.filter(({ stored }) => JSON.stringify(stored.after) === JSON.stringify(after));
    return this.#readersOf(together, after, cursor);
  }

  #readersOf(readers: readonly Reader[], after: WantedPage['after'], until: string | null): Readers {
    const ids = readers.map(({ stored }) => stored.id).join();
    const { exceptZone } = this.#options;
    const rules = readers.map(({ rule }) => rule);
    const set = this.#sets.get(ids) ?? new RuleSet(rules, { exceptZone });
    if (this.#sets.size > 2) this.#sets.clear();
    this.#sets.set(ids, set);
    // The first page is read for its time alone.
    const { zones, where } = readers.length === 0 ? { zones: 'all' as const, where: { kind: 'everything' as const } } : set.wanted;
    return { wanted: { key: JSON.stringify([ids, after]), rules: ids, after, until, zones, where }, readers, set };
  }

  #take(page: PageOfEvents, { readers, set, wanted }: Readers, nowMs: number): void {
    const before = this.#progress;
    const isOfJoined = wanted.until === null;
    const completeToMs = isOfJoined ? Math.max(before.completeToMs, page.completeToMs) : before.completeToMs;
    this.#progress = { ...before, completeToMs, cursor: isOfJoined ? page.end : before.cursor };
    if (before.cursor === null) {
      // All rules have waited for the time, and begin at it.
      for (const reader of this.#readers) this.#beginAnew(reader);
      this.#restart();
    }
    countPage(page, readers, set, this.#options.exceptZone);
    // Up to their cursor what the rules that have joined know of the time holds for others, too.
    const hasJoined = isOfJoined || page.hasReachedUntil;
    const timeMs = hasJoined ? completeToMs : page.completeToMs;
    for (const reader of readers) {
      reader.news.push(...reader.fold.completeTo(timeMs));
      const unreadable = reader.stored.unreadable + page.unreadable;
      if (!isOfJoined) this.#change(reader, { after: hasJoined ? null : { cursor: page.end }, unreadable });
      else if (page.unreadable > 0) this.#change(reader, { unreadable });
    }
    // Where all rules together have too much, those of other pages have given up something.
    for (const reader of this.#readers) this.#keep(reader, nowMs);
    const { cursor, told } = this.#progress;
    const hasMoved = cursor !== before.cursor || told > before.told || completeToMs >= this.#writtenMs + TIME_WRITTEN_MS;
    if (hasMoved) this.#writeProgress();
  }

  /** Writes what a rule knows now, and queues messages about its news. */
  #keep(reader: Reader, nowMs: number): void {
    const { fold, stored } = reader;
    const news = [...reader.news, ...fold.completeTo(fold.facts.timeMs)];
    reader.news = [];
    const changes = fold.takeChanges({ isWhole: this.#state.folds.isLong(stored.id) });
    if (changes !== null) {
      this.#state.folds.write(stored.id, changes);
      this.#state.saveAlerts(stored, changes.alerts);
    }
    for (const { kind, alert } of news) {
      if (kind === 'told') this.#sendTold(reader, alert, nowMs);
      if (kind === 'resolved') this.#sendResolved(alert, null, nowMs);
    }
    // One that gave way to others is resolved by what is kept of it, so it is removed last.
    if (changes !== null) this.#state.removeAlerts(stored.id, changes.goneAlerts);
  }

  #sendTold({ stored, rule }: Reader, alert: Alert, queuedAtMs: number): void {
    // A rule that was changed and is as before again finds the alerts that it has told.
    if (this.#state.told(alert.id) !== null) return;
    const { name, severity, labels, by, zones, receivers } = rule;
    const kept = this.#keptFrom(rule, alert);
    const queues = [...(kept === null ? receivers : []), ...this.#options.alsoTo];
    const told: Told = { rule: { name, version: stored.version, severity, labels, by, zones }, queues, kept };
    this.#state.setTold(stored.id, alert, told);
    this.#queue(told, { state: 'told', alert, earlyEnd: null, queuedAtMs });
    this.#progress = { ...this.#progress, told: this.#progress.told + 1 };
  }

  #sendResolved(alert: Alert, earlyEnd: EarlyEnd | null, queuedAtMs: number): void {
    const told = this.#state.told(alert.id);
    if (told !== null) this.#queue(told, { state: 'resolved', alert, earlyEnd, queuedAtMs });
  }

  #queue({ queues, rule }: Told, message: Omit<NewMessage, 'rule'>): void {
    this.#state.outbox.add(queues, { ...message, rule });
    this.#hasQueued = true;
  }

  /** Why an alert is not sent to receivers; null where it is. */
  #keptFrom(rule: AlertRule, { group, toldAtMs, toMs }: Alert): Told['kept'] {
    const atMs = toldAtMs ?? 0;
    const values = group.map(({ text }) => text);
    if (this.#state.isSilenced(rule, values, atMs)) return 'silenced';
    return atMs - toMs > rule.maxAgeMs ? 'too_old' : null;
  }
}

/** Counts the events of a page for the rules that they match, and for each rule those that were read of its zones. */
function countPage(page: PageOfEvents, readers: readonly Reader[], set: RuleSet, exceptZone: number | undefined): void {
  const ofZones = new Map<number | 'all', number>();
  const add = (zone: number | 'all') => ofZones.set(zone, (ofZones.get(zone) ?? 0) + 1);
  for (const event of eventsIn(page)) {
    add(event.zoneId);
    if (event.zoneId !== exceptZone) add('all');
    const subject = matchSubject(event.fields);
    for (const index of set.matching(event.zoneId, subject)) {
      const reader = readers[index] as Reader;
      reader.news.push(...reader.fold.count(event, subject));
    }
  }
  for (const { rule, fold } of readers) {
    const zones: readonly (number | 'all')[] = rule.zones === 'all' ? [rule.zones] : rule.zones;
    if (rule.kind.kind !== 'silence') fold.addRead(zones.map((zone) => ofZones.get(zone) ?? 0).reduce((sum, one) => sum + one, 0));
  }
}

import { MINUTE_MS } from '../../query/durations.ts';
import { matchSubject } from '../../query/match/match-event.ts';
import type { Alert, FoldNews } from '../alert-book.ts';
import { EntryBudget } from '../entry-budget.ts';
import { type AlertRule, readBackMs, versionOf } from '../rule.ts';
import { readRule } from '../rule-file.ts';
import { RuleFold } from '../rule-fold.ts';
import { RuleSet } from '../rule-set.ts';
import type { ZoneActivity } from '../silent-zones.ts';
import { AlertState, type CursorRefusal, type EvaluationProgress, type Silence, type StoredRule, type Told } from './alert-state.ts';
import type { AlertsOverview, EvaluationFacts } from './alerts-overview.ts';
import { eventsIn, type PageOfEvents, type WantedPage } from './feed-pages.ts';
import type { EarlyEnd, GiveUpOptions, Outcome, ToldRule, WaitingMessages } from './outbox.ts';

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
  fold: RuleFold;
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
  readonly #budget = new EntryBudget();
  #readers: Reader[] = [];
  /** Who wants the page that was asked for last. */
  #asked: Readers | undefined;
  /** The last readers that were together, by their ids. */
  readonly #sets = new Map<string, RuleSet>();

  /** Opens the state, ends the rules that are gone or changed, and adds the new ones. Throws as `AlertState` does. */
  constructor(options: EvaluationOptions) {
    this.#options = options;
    this.#state = new AlertState(options.file);
    try {
      this.#state.transaction(() => this.#reconcile());
      this.#readers = this.#state.rules.map((stored) => this.#readerOf(stored));
    } catch (error) {
      this.#state[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#state[Symbol.dispose]();
  }

  /** The rules that are followed. */
  rules(): readonly AlertRule[] {
    return this.#readers.map(({ rule }) => rule);
  }

  /** Which page to read next. */
  next(hasQueued = false): NextStep {
    const { progress } = this.#state;
    this.#asked = this.#ask(progress);
    return { wanted: this.#asked?.wanted ?? null, facts: this.#facts, hasQueued };
  }

  /** Counts the page that was asked for last; another one is passed over. `nowMs` is the clock, at which messages are queued. */
  takePage(page: PageOfEvents, nowMs: number): NextStep {
    const asked = this.#asked;
    if (asked?.wanted.key !== page.key) return this.next();
    return this.next(this.#state.transaction(() => this.#take(page, asked, nowMs)));
  }

  /** Lets rules of the kind `silence` look at the last events of all zones that had some within a day. */
  look(zones: readonly ZoneActivity[], nowMs: number): NextStep {
    const others = zones.filter(({ zoneId }) => zoneId !== this.#options.exceptZone);
    const looking = this.#readers.filter(({ rule, stored }) => rule.kind.kind === 'silence' && stored.hasJoined);
    const hasQueued = this.#state.transaction(() => {
      const { progress } = this.#state;
      const news = looking.map((reader) => ({ reader, ofReader: reader.fold.lookAt(others, nowMs) }));
      const told = news.reduce((sum, { reader, ofReader }) => sum + this.#keep(reader, ofReader, nowMs), 0);
      if (told > 0) this.#state.setProgress({ ...progress, told: progress.told + told });
      return news.some(({ ofReader }) => ofReader.length > 0);
    });
    return this.next(hasQueued);
  }

  /**
   * A cursor of the page that was asked for last is refused: where it begins, or that of the rules that have joined, up to which it goes.
   * `goesOn` is the one to go on with; null: rules begin as new ones, and keep their alerts.
   */
  refuse(key: string, place: 'after' | 'until', refusal: CursorRefusal, goesOn: string | null): NextStep {
    const asked = this.#asked;
    if (asked?.wanted.key !== key) return this.next();
    const isOfJoined = place === 'until' || asked.wanted.until === null;
    const readers = isOfJoined ? this.#readers : asked.readers;
    this.#state.transaction(() => {
      const { progress } = this.#state;
      const refusals = { ...progress.refusals, [refusal]: (progress.refusals[refusal] ?? 0) + 1, last: refusal };
      const joined = goesOn === null ? { cursor: null, completeToMs: 0 } : { cursor: goesOn };
      this.#state.setProgress({ ...progress, refusals, ...(isOfJoined && joined) });
      if (goesOn === null) this.#beginAnew(readers, isOfJoined ? null : progress.completeToMs);
      else if (!isOfJoined) for (const reader of readers) this.#change(reader, { cursor: goesOn });
    });
    if (goesOn === null) this.#restart();
    return this.next();
  }

  /** Counts how often that was wrong with the file of the state since the thread began. The same number counts once. */
  countBegunAnew(refusal: 'damaged' | 'lost', times: number): void {
    const { progress } = this.#state;
    if (times === 0 || progress.refusals[refusal] === times) return;
    const refusals = { ...progress.refusals, [refusal]: times, last: refusal };
    this.#state.transaction(() => this.#state.setProgress({ ...progress, refusals }));
  }

  waiting(queue: string, options: { readonly limit: number; readonly except: readonly string[] }): WaitingMessages | null {
    return this.#state.outbox.waiting(queue, options);
  }

  settle(queue: string, rule: Pick<ToldRule, 'name' | 'version'>, upToSeq: number, outcome: Outcome): void {
    this.#state.transaction(() => this.#state.outbox.settle(queue, rule, upToSeq, outcome));
  }

  giveUp(options: GiveUpOptions): number {
    return this.#state.transaction(() => this.#state.outbox.giveUp(options));
  }

  addSilence(silence: Omit<Silence, 'id'>): Silence {
    const id = this.#state.transaction(() => {
      this.#state.removeEndedSilences(this.#state.progress.completeToMs - this.#options.retentionMs);
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
    const rules = this.#readers.map(({ stored: { id, name, version, file, hasJoined, unreadable }, rule, fold }) => {
      const { timeMs, read, counted, tooLate, bounded } = fold.facts;
      const facts = { timeMs, read, counted, tooLate, bounded, open: this.#state.countOpen(id) };
      return { name, version, file, hasJoined, unreadable, rule, ...facts };
    });
    const { outbox, silences } = this.#state;
    const [alerts, deliveries] = [this.#state.latestTold(limit), outbox.latest(limit)];
    return { facts: this.#facts, rules, alerts, deliveries, queues: outbox.totals(), silences };
  }

  get #facts(): EvaluationFacts {
    const looksAtZones = this.#readers.some(({ rule }) => rule.kind.kind === 'silence');
    return { ...this.#state.progress, rules: this.#readers.length, looksAtZones };
  }

  #reconcile(): void {
    const { rules, wrongFiles, retentionMs } = this.#options;
    const given = new Map(
      rules.map((one) => {
        const rule = readRule(one.text);
        return [rule.name, { ...one, version: versionOf(rule) }];
      }),
    );
    const { progress, rules: stored } = this.#state;
    // What was stored while there was no rule is of no interest.
    if (stored.length === 0) this.#state.setProgress({ ...progress, cursor: null, completeToMs: 0 });
    for (const rule of stored) {
      const now = given.get(rule.name);
      if (now === undefined) {
        if (wrongFiles !== 'all' && !wrongFiles.includes(rule.file)) this.#end(rule, 'rule_gone', progress);
        continue;
      }
      if (now.version !== rule.version) {
        this.#end(rule, 'rule_changed', progress);
        continue;
      }
      given.delete(rule.name);
      this.#state.setRule({ ...rule, ...now });
    }
    for (const [name, one] of given) this.#state.addRule({ ...one, name });
    this.#state.removeEndedAlerts(progress.completeToMs - retentionMs);
  }

  /** Removes a rule. Its alerts are resolved. */
  #end(rule: StoredRule, earlyEnd: EarlyEnd, { completeToMs }: EvaluationProgress): void {
    for (const alert of this.#state.alertsOf(rule.id).filter(({ resolvedAtMs }) => resolvedAtMs === null)) {
      const resolved = { ...alert, resolvedAtMs: Math.max(alert.toldAtMs ?? 0, completeToMs) };
      this.#state.endEarly(rule.id, resolved, earlyEnd);
      this.#sendResolved(resolved, earlyEnd, resolved.resolvedAtMs);
    }
    this.#state.removeRule(rule.id);
  }

  #readerOf(stored: StoredRule): Reader {
    const rule = readRule(stored.text);
    const { retentionMs } = this.#options;
    const state = this.#state.fold(stored.id);
    const begun = { begunAtMs: stored.begunAtMs ?? 0, alerts: this.#state.alertsOf(stored.id) };
    const fold = new RuleFold(rule, { retentionMs, budget: this.#budget, ...(state === undefined ? begun : { state }) });
    // What was due by then was worked off, and only the time was not written.
    if (stored.hasJoined) fold.completeTo(this.#state.progress.completeToMs);
    return { stored, rule, fold };
  }

  /** Lets rules forget all but their alerts. A time that is null is that of the next page. */
  #beginAnew(readers: readonly Reader[], begunAtMs: number | null): void {
    for (const reader of readers) {
      this.#state.clearFold(reader.stored.id);
      this.#change(reader, { begunAtMs, cursor: null, hasJoined: false });
    }
  }

  /** Has all folds made of the state anew. */
  #restart(): void {
    for (const { fold } of this.#readers) fold.end();
    this.#readers = this.#state.rules.map((stored) => this.#readerOf(stored));
  }

  #change(reader: Reader, change: Partial<StoredRule>): void {
    reader.stored = { ...reader.stored, ...change };
    this.#state.setRule(reader.stored);
  }

  /** Rules that have joined and others take turns. */
  #ask({ cursor }: EvaluationProgress): Readers | undefined {
    if (this.#readers.length === 0) return undefined;
    if (cursor === null) return this.#readersOf([], 'newest', null);
    const joined = this.#readers.filter(({ stored }) => stored.hasJoined);
    const others = this.#readers.filter(({ stored }) => !stored.hasJoined);
    const [first] = others;
    const wasOther = this.#asked?.readers[0]?.stored.hasJoined === false;
    if (first === undefined || (wasOther && joined.length > 0)) return this.#readersOf(joined, { cursor }, null);
    const from = (reader: Reader) => JSON.stringify(this.#after(reader));
    return this.#readersOf(
      others.filter((one) => from(one) === from(first)),
      this.#after(first),
      cursor,
    );
  }

  #after({ stored, rule }: Reader): WantedPage['after'] {
    const { cursor, begunAtMs } = stored;
    return cursor === null ? { atMs: (begunAtMs ?? 0) - readBackMs(rule, this.#options.retentionMs) } : { cursor };
  }

  #readersOf(readers: readonly Reader[], after: WantedPage['after'], until: string | null): Readers {
    const ids = readers.map(({ stored }) => stored.id).join();
    const { exceptZone } = this.#options;
    const rules = readers.map(({ rule }) => rule);
    const set = this.#sets.get(ids) ?? new RuleSet(rules, exceptZone === undefined ? {} : { exceptZone });
    if (this.#sets.size > 2) this.#sets.clear();
    this.#sets.set(ids, set);
    // The first page is read for its time alone.
    const { zones, where } = readers.length === 0 ? { zones: 'all' as const, where: { kind: 'everything' as const } } : set.wanted;
    return { wanted: { key: JSON.stringify([ids, after]), after, until, zones, where }, readers, set };
  }

  /** Returns whether messages were queued. */
  #take(page: PageOfEvents, { readers, set, wanted }: Readers, nowMs: number): boolean {
    const { progress } = this.#state;
    const isOfJoined = wanted.until === null;
    const completeToMs = isOfJoined ? Math.max(progress.completeToMs, page.completeToMs) : progress.completeToMs;
    // Up to their cursor what the rules that have joined know of the time holds for others, too.
    const timeMs = isOfJoined || page.hasReachedUntil ? completeToMs : page.completeToMs;
    const { news, ofZones } = countPage(page, readers, set, this.#options.exceptZone);
    for (const { rule, fold } of readers) fold.addRead(readFor(rule, ofZones));
    let [told, hasNews] = [0, false];
    for (const reader of this.#readers) {
      const { fold } = reader;
      const isOfPage = readers.includes(reader);
      // Where all rules together have too much, those of other pages have given up something.
      const ofReader = [...(news.get(reader) ?? []), ...fold.completeTo(isOfPage ? timeMs : fold.facts.timeMs)];
      told += this.#keep(reader, ofReader, nowMs);
      hasNews ||= ofReader.length > 0;
      if (!isOfPage) continue;
      this.#advance(reader, page, isOfJoined);
    }
    const cursor = isOfJoined ? page.end : progress.cursor;
    const hasMoved = cursor !== progress.cursor || told > 0 || completeToMs >= progress.completeToMs + TIME_WRITTEN_MS;
    if (hasMoved) this.#state.setProgress({ ...progress, cursor, completeToMs, told: progress.told + told });
    this.#beginRules(completeToMs);
    return hasNews;
  }

  /** Writes what a fold knows now, and queues messages about its news. Returns how many alerts were told. */
  #keep(reader: Reader, news: readonly FoldNews[], nowMs: number): number {
    const changes = reader.fold.takeChanges();
    if (changes !== null) this.#state.saveFold(reader.stored, changes);
    return this.#send(reader, news, nowMs);
  }

  /** A rule has counted a page. */
  #advance(reader: Reader, { end, unreadable, hasReachedUntil: hasJoined }: PageOfEvents, isOfJoined: boolean): void {
    const lacking = reader.stored.unreadable + unreadable;
    if (!isOfJoined) this.#change(reader, { cursor: hasJoined ? null : end, hasJoined, unreadable: lacking });
    else if (unreadable > 0) this.#change(reader, { unreadable: lacking });
  }

  /** Rules that have waited for the time begin at it. */
  #beginRules(timeMs: number): void {
    for (const reader of this.#readers.filter(({ stored }) => stored.begunAtMs === null)) {
      this.#change(reader, { begunAtMs: timeMs });
      reader.fold.end();
      reader.fold = this.#readerOf(reader.stored).fold;
    }
  }

  /** Queues messages about alerts that are told and resolved. Returns how many were told. */
  #send({ stored, rule }: Reader, news: readonly FoldNews[], nowMs: number): number {
    let told = 0;
    for (const { kind, alert } of news) {
      if (kind === 'resolved') this.#sendResolved(alert, null, nowMs);
      // A rule that was changed and is as before again finds the alerts that it has told.
      if (kind !== 'told' || this.#state.told(alert.id) !== null) continue;
      const { name, severity, labels, by, zones, receivers } = rule;
      const kept = this.#keptFrom(rule, alert);
      const queues = [...(kept === null ? receivers : []), ...this.#options.alsoTo];
      const telling: Told = { rule: { name, version: stored.version, severity, labels, by, zones }, queues, kept };
      this.#state.setTold(stored.id, alert, telling);
      this.#state.outbox.add(queues, { state: 'told', rule: telling.rule, alert, earlyEnd: null, queuedAtMs: nowMs });
      told += 1;
    }
    return told;
  }

  #sendResolved(alert: Alert, earlyEnd: EarlyEnd | null, queuedAtMs: number): void {
    const told = this.#state.told(alert.id);
    if (told !== null) this.#state.outbox.add(told.queues, { state: 'resolved', rule: told.rule, alert, earlyEnd, queuedAtMs });
  }

  /** Why an alert is not sent to receivers; null where it is. */
  #keptFrom({ name, maxAgeMs }: AlertRule, { group, toldAtMs, toMs }: Alert): Told['kept'] {
    const atMs = toldAtMs ?? 0;
    const values = group.map(({ text }) => text);
    if (this.#state.isSilenced(name, values, atMs)) return 'silenced';
    return atMs - toMs > maxAgeMs ? 'too_old' : null;
  }
}

/** How many events of a page there are in each zone, and in `all` that the word means. */
type ZoneCounts = ReadonlyMap<number | 'all', number>;

/** How many events of a page are of the zones of a rule, which is tried, or looked up, for each. */
function readFor({ zones, kind }: AlertRule, ofZones: ZoneCounts): number {
  if (kind.kind === 'silence') return 0;
  if (zones === 'all') return ofZones.get(zones) ?? 0;
  return zones.reduce((sum, zone) => sum + (ofZones.get(zone) ?? 0), 0);
}

/** Counts the events of a page for the rules that they match, and returns what comes of it, and how many events each zone has. */
function countPage(page: PageOfEvents, readers: readonly Reader[], set: RuleSet, exceptZone: number | undefined) {
  const ofZones = new Map<number | 'all', number>();
  const add = (zone: number | 'all') => ofZones.set(zone, (ofZones.get(zone) ?? 0) + 1);
  const news = new Map<Reader, FoldNews[]>(readers.map((reader) => [reader, []]));
  for (const event of eventsIn(page)) {
    add(event.zoneId);
    if (event.zoneId !== exceptZone) add('all');
    const subject = matchSubject(event.fields);
    for (const index of set.matching(event.zoneId, subject)) {
      const reader = readers[index] as Reader;
      news.get(reader)?.push(...reader.fold.count(event, subject));
    }
  }
  return { news, ofZones };
}

import { compileMatcher, type Matcher, type MatchSubject } from '../query/match/match-event.ts';
import type { AlertBook } from './alert-book.ts';
import { type CountedEvent, fieldValue, groupKey, keptValue } from './alert-group.ts';
import { ClosedWindows } from './closed-windows.ts';
import type { DueTimes } from './due-times.ts';
import type { EntryBudget, GivenUpWindow } from './entry-budget.ts';
import type { FoldChanges, FoldFacts, FoldState, KeptEntry, KeptWindow, Mutable } from './fold-state.ts';
import { type AlertRule, SETTLE_MS, SHARE_UNIT, TIMES_UNIT } from './rule.ts';

/** About so many bytes a window, an entry and a value take beside their texts. */
const WINDOW_BYTES = 900;
const ENTRY_BYTES = 200;
const VALUE_BYTES = 50;

/** An entry has values once one is counted, and until it has hit. */
type Entry = Mutable<KeptEntry> & { values: Set<string> | null };
type CountedWindow = Mutable<KeptWindow> & Mutable<GivenUpWindow> & { readonly entries: Map<string, Entry>; bytes: number };

/** What the parts of a fold share. */
export interface FoldParts {
  readonly rule: AlertRule;
  readonly retentionMs: number;
  readonly facts: Mutable<FoldFacts>;
  readonly dues: DueTimes;
  readonly book: AlertBook;
  readonly budget: EntryBudget;
}

/** The events of a rule by window and group, and when these are hits. */
export class WindowCounts {
  readonly #rule: AlertRule;
  readonly #parts: FoldParts;
  readonly #isPart: Matcher;
  readonly #windows = new Map<number, CountedWindow>();
  readonly #closed: ClosedWindows;
  #entries = 0;
  readonly #changed = { windows: new Set<CountedWindow>(), entries: new Set<Entry>(), closed: false };
  #newValues: (readonly [Entry, string])[] = [];
  #goneWindows: number[] = [];
  #goneEntries: Entry[] = [];

  constructor(parts: FoldParts, { windows, entries, values, closed }: Pick<FoldState, 'windows' | 'entries' | 'values' | 'closed'>) {
    const { kind, windowMs } = parts.rule;
    this.#rule = parts.rule;
    this.#parts = parts;
    this.#isPart = kind.kind === 'ratio' ? compileMatcher(kind.part).matches : () => false;
    this.#closed = new ClosedWindows(windowMs / 2, closed);
    for (const window of windows) this.#keepWindow(window);
    for (const entry of entries) this.#keepEntry(this.#windows.get(entry.windowMs) as CountedWindow, entry);
    for (const { windowMs: beginMs, group, value } of values) {
      const window = this.#windows.get(beginMs) as CountedWindow;
      this.#keepValue(window, window.entries.get(group) as Entry, value);
    }
    this.takeChanges();
  }

  get state(): Pick<FoldState, 'windows' | 'entries' | 'values' | 'closed'> {
    const windows = [...this.#windows.values()];
    const entries = windows.flatMap((window) => [...window.entries.values()]);
    const values = entries.flatMap((entry) => [...(entry.values ?? [])].map((value) => [entry, value] as const));
    return { windows: windows.map(windowRow), entries: entries.map(entryRow), values: values.map(valueRow), closed: this.#closed.ranges };
  }

  takeChanges(): Pick<FoldChanges, 'windows' | 'entries' | 'values' | 'closed' | 'goneWindows' | 'goneEntries'> {
    const { windows, entries, closed } = this.#changed;
    const isKept = (entry: Entry) => this.#windows.get(entry.windowMs)?.entries.get(entry.group) === entry;
    const changes = {
      windows: [...windows].filter(({ isGone }) => !isGone).map(windowRow),
      entries: [...entries].filter(isKept).map(entryRow),
      values: this.#newValues.filter(([entry, value]) => isKept(entry) && entry.values?.has(value) === true).map(valueRow),
      closed: closed ? [...this.#closed.ranges] : null,
      goneWindows: this.#goneWindows,
      goneEntries: this.#goneEntries.map(({ windowMs, group }) => ({ windowMs, group })),
    };
    windows.clear();
    entries.clear();
    this.#changed.closed = false;
    [this.#newValues, this.#goneWindows, this.#goneEntries] = [[], [], []];
    return changes;
  }

  /** Counts an event in both of its windows. */
  count(event: CountedEvent, group: string, subject: MatchSubject): void {
    const { kind, windowMs } = this.#rule;
    const found = kind.kind === 'distinct' ? fieldValue(event, kind.field) : undefined;
    const value = found === undefined ? undefined : groupKey([keptValue(found)]);
    const part = this.#isPart(subject) ? 1 : 0;
    const stepMs = windowMs / 2;
    const lastMs = Math.floor(event.timestamp / stepMs) * stepMs;
    this.#countIn(lastMs - stepMs, { group, value, part, timestamp: event.timestamp });
    this.#countIn(lastMs, { group, value, part, timestamp: event.timestamp });
  }

  /** The time has come at which the groups of a window are looked at. */
  decide(atMs: number, beginMs: number): void {
    const window = this.#windows.get(beginMs);
    if (window?.decideAtMs !== atMs) return;
    window.decideAtMs = null;
    this.#changed.windows.add(window);
    const { facts } = this.#parts;
    const { kind, windowMs } = this.#rule;
    if (kind.kind === 'more_than_before') {
      if (facts.timeMs < facts.hitsFromMs || beginMs - kind.before * windowMs < facts.historyFromMs) return;
    }
    const hits = [...window.entries.values()].filter((entry) => entry.mayHit && this.#meets(entry));
    for (const entry of hits.toSorted((one, other) => (one.group < other.group ? -1 : 1))) {
      this.#hit(window, entry, beginMs + windowMs);
    }
  }

  /** The time has come at which a window closes, or is needed no more; false where it had closed early. */
  close(atMs: number, beginMs: number): boolean {
    const window = this.#windows.get(beginMs);
    if (window === undefined) return false;
    if (window.closesAtMs === atMs && !this.#closed.has(beginMs)) {
      this.#markClosed(beginMs);
      const neededToMs = this.#neededToMs(window);
      if (neededToMs > atMs) {
        this.#parts.dues.add({ atMs: neededToMs, kind: 'close', windowMs: beginMs, group: '' });
        return false;
      }
    }
    if (this.#neededToMs(window) !== atMs) return false;
    this.#drop(window);
    return true;
  }

  /** Forgets that the windows that begin at a time, or before it, have closed. */
  forgetClosed(untilMs: number): void {
    this.#closed.forget(untilMs);
    this.#changed.closed = true;
  }

  /** Gives up all windows, because the rule is gone. */
  end(): void {
    for (const window of this.#windows.values()) this.#drop(window);
  }

  #countIn(beginMs: number, event: { group: string; value: string | undefined; part: number; timestamp: number }): void {
    const { group, value, part, timestamp } = event;
    const known = this.#windows.get(beginMs)?.entries.get(group);
    const isNewValue = value !== undefined && known?.mayHit !== false && known?.values?.has(value) !== true;
    if ((known === undefined || isNewValue) && !this.#closed.has(beginMs)) this.#makeRoom(known === undefined);
    if (this.#closed.has(beginMs)) {
      this.#parts.facts.tooLate += 1;
      return;
    }
    const window = this.#windows.get(beginMs) ?? this.#openWindow(beginMs);
    const isWhole = this.#rule.kind.kind !== 'ratio' || !window.isCut;
    const entry = window.entries.get(group) ?? this.#keepEntry(window, { windowMs: beginMs, group, count: 0, part: 0, mayHit: isWhole });
    this.#changed.entries.add(entry);
    entry.count += 1;
    entry.part += part;
    if (isNewValue) this.#keepValue(window, entry, value);
    if (this.#isDecidedLater()) this.#awaitDecision(window);
    else if (entry.mayHit && this.#meets(entry)) this.#hit(window, entry, timestamp);
  }

  #isDecidedLater(): boolean {
    const { kind } = this.#rule.kind;
    return kind === 'ratio' || kind === 'more_than_before';
  }

  #awaitDecision(window: CountedWindow): void {
    if (window.decideAtMs !== null) return;
    window.decideAtMs = Math.max(window.beginMs + this.#rule.windowMs, this.#parts.facts.timeMs) + SETTLE_MS;
    this.#changed.windows.add(window);
    this.#parts.dues.add({ atMs: window.decideAtMs, kind: 'decide', windowMs: window.beginMs, group: '' });
  }

  #meets({ windowMs: beginMs, group, count, part, values }: Entry): boolean {
    const { kind, windowMs } = this.#rule;
    switch (kind.kind) {
      case 'count':
        return count >= kind.atLeast;
      case 'distinct':
        return (values?.size ?? 0) >= kind.atLeast;
      case 'ratio':
        return count >= kind.atLeast && part * SHARE_UNIT >= kind.share * count;
      case 'more_than_before': {
        if (count < kind.atLeast) return false;
        let before = 0;
        for (let nth = 1; nth <= kind.before; nth += 1)
          before += this.#windows.get(beginMs - nth * windowMs)?.entries.get(group)?.count ?? 0;
        return count * kind.before * TIMES_UNIT >= kind.times * before;
      }
      case 'new_value':
      case 'silence':
        return false;
      default:
        return kind satisfies never;
    }
  }

  #hit(window: CountedWindow, entry: Entry, completedAtMs: number): void {
    entry.mayHit = false;
    this.#changed.entries.add(entry);
    if (entry.values !== null) {
      // Its values go with it, before it comes again without them.
      this.#goneEntries.push(entry);
      this.#take(window, 0, -valueBytes(entry));
      entry.values = null;
    }
    this.#parts.book.hit(window.beginMs, entry.group, completedAtMs);
  }

  #openWindow(beginMs: number): CountedWindow {
    const { windowMs, lateMs } = this.#rule;
    const { facts, retentionMs } = this.#parts;
    const closesAtMs = Math.max(beginMs + windowMs, facts.timeMs) + Math.min(lateMs, retentionMs);
    return this.#keepWindow({ beginMs, closesAtMs, decideAtMs: null, isCut: false });
  }

  #keepWindow(row: KeptWindow): CountedWindow {
    const { dues, budget } = this.#parts;
    const giveUp = (isOnlyOne: boolean) => this.#giveUp(window, isOnlyOne);
    const window: CountedWindow = { ...row, rule: this.#rule.name, entries: new Map(), bytes: 0, isGone: false, giveUp };
    const { beginMs, closesAtMs, decideAtMs } = row;
    this.#windows.set(beginMs, window);
    this.#changed.windows.add(window);
    budget.addWindow(window);
    this.#take(window, 0, WINDOW_BYTES);
    dues.add({ atMs: this.#closed.has(beginMs) ? this.#neededToMs(window) : closesAtMs, kind: 'close', windowMs: beginMs, group: '' });
    if (decideAtMs !== null) dues.add({ atMs: decideAtMs, kind: 'decide', windowMs: beginMs, group: '' });
    return window;
  }

  #keepEntry(window: CountedWindow, row: KeptEntry): Entry {
    const entry: Entry = { ...row, values: null };
    window.entries.set(entry.group, entry);
    this.#take(window, 1, ENTRY_BYTES + entry.group.length);
    return entry;
  }

  #keepValue(window: CountedWindow, entry: Entry, value: string): void {
    entry.values ??= new Set();
    entry.values.add(value);
    this.#newValues.push([entry, value]);
    this.#take(window, 0, VALUE_BYTES + value.length);
  }

  #take(window: CountedWindow, entries: number, bytes: number): void {
    this.#entries += entries;
    window.bytes += bytes;
    this.#parts.budget.take(entries, bytes);
  }

  /** Until when the counts of a window are needed: it may have to be decided, and later ones to be compared with it. */
  #neededToMs({ beginMs, closesAtMs }: KeptWindow): number {
    const { kind, windowMs, lateMs } = this.#rule;
    if (!this.#isDecidedLater()) return closesAtMs;
    const comparedToMs =
      kind.kind === 'more_than_before' ? beginMs + (kind.before + 1) * windowMs + Math.min(lateMs, this.#parts.retentionMs) : 0;
    return Math.max(closesAtMs, comparedToMs) + SETTLE_MS;
  }

  /** Makes room for one more entry of this rule, where it is one, and for what it takes of all rules. */
  #makeRoom(isEntry: boolean): void {
    const { by, maxGroups } = this.#rule;
    while (isEntry && by.length > 0 && this.#entries >= maxGroups) {
      const oldestMs = [...this.#windows.keys()].reduce((oldest, one) => Math.min(oldest, one));
      this.#giveUp(this.#windows.get(oldestMs) as CountedWindow, this.#windows.size === 1);
    }
    this.#parts.budget.makeRoom(this.#parts.facts.timeMs);
  }

  #giveUp(window: CountedWindow, isOnlyOne: boolean): void {
    this.#parts.facts.bounded += 1;
    if (!isOnlyOne || window.entries.size < 2) {
      this.#markClosed(window.beginMs);
      this.#drop(window);
      return;
    }
    const lowestFirst = [...window.entries.values()].toSorted(
      (one, other) => one.count - other.count || (one.group > other.group ? -1 : 1),
    );
    for (const entry of lowestFirst.slice(0, Math.ceil(lowestFirst.length / 2))) {
      window.entries.delete(entry.group);
      this.#goneEntries.push(entry);
      this.#take(window, -1, -ENTRY_BYTES - entry.group.length - valueBytes(entry));
    }
    window.isCut = true;
    this.#changed.windows.add(window);
    this.#lackHistory(window);
  }

  #markClosed(beginMs: number): void {
    this.#closed.add(beginMs);
    this.#changed.closed = true;
  }

  #drop(window: CountedWindow): void {
    window.isGone = true;
    this.#windows.delete(window.beginMs);
    this.#take(window, -window.entries.size, -window.bytes);
    this.#parts.budget.removeWindow();
    this.#goneWindows.push(window.beginMs);
    this.#lackHistory(window);
  }

  /** No window is compared with one whose counts are given up. */
  #lackHistory({ beginMs }: CountedWindow): void {
    if (this.#rule.kind.kind !== 'more_than_before') return;
    const { facts } = this.#parts;
    facts.historyFromMs = Math.max(facts.historyFromMs, beginMs + this.#rule.windowMs / 2);
  }
}

function valueBytes({ values }: Entry): number {
  let bytes = 0;
  for (const value of values ?? []) bytes += VALUE_BYTES + value.length;
  return bytes;
}

function windowRow({ beginMs, closesAtMs, decideAtMs, isCut }: CountedWindow): KeptWindow {
  return { beginMs, closesAtMs, decideAtMs, isCut };
}

function entryRow({ windowMs, group, count, part, mayHit }: Entry): KeptEntry {
  return { windowMs, group, count, part, mayHit };
}

function valueRow([{ windowMs, group }, value]: readonly [Entry, string]) {
  return { windowMs, group, value };
}

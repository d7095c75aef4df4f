import { compileMatcher, type Matcher, type MatchSubject } from '../query/match/match-event.ts';
import { type CountedEvent, fieldValue, groupKey, keptValue } from './alert-group.ts';
import { ClosedWindows } from './closed-windows.ts';
import type { Due } from './due-times.ts';
import type { GivenUpWindow } from './entry-budget.ts';
import type { FoldChanges, FoldParts, FoldRow, FoldState, Mutable } from './fold-state.ts';
import { type AlertRule, SETTLE_MS, SHARE_UNIT, TIMES_UNIT } from './rule.ts';

/** About so many bytes a window, an entry and a value take beside their texts. */
const WINDOW_BYTES = 900;
const ENTRY_BYTES = 200;
const VALUE_BYTES = 50;

/** What is kept of a window. */
interface WindowData {
  /** From then on its events are too late. */
  readonly closesAtMs: number;
  /** When it is decided whether its groups are hits; null where nothing came since that was done, or where every event decides. */
  readonly decideAtMs: number | null;
  /** Whether groups of it were given up, so that the counts of those that came later are not whole. */
  readonly isCut: boolean;
}

/** What is kept of a group of a window. */
interface EntryData {
  /** Its events so far, and how many of them meet the condition `part`. */
  readonly count: number;
  readonly part: number;
  /** False once it has hit, or where its counts are not whole. */
  readonly mayHit: boolean;
}

interface Entry extends Mutable<EntryData> {
  readonly windowMs: number;
  readonly group: string;
  /** Those that are counted, until it has hit; null: none. */
  values: Set<string> | null;
}

interface CountedWindow extends Mutable<WindowData>, Mutable<GivenUpWindow> {
  readonly entries: Map<string, Entry>;
  bytes: number;
}

/** The events of a rule by window and group, and when these are hits. */
export class WindowCounts {
  readonly #rule: AlertRule;
  readonly #parts: FoldParts;
  readonly #isPart: Matcher;
  /** A window is decided some time after its end, not by each of its events. */
  readonly #isDecidedLater: boolean;
  readonly #windows = new Map<number, CountedWindow>();
  readonly #closed: ClosedWindows;
  #entries = 0;
  readonly #changedWindows = new Set<CountedWindow>();
  readonly #changedEntries = new Set<Entry>();
  #newValues: (readonly [Entry, string])[] = [];
  #gone: FoldChanges['gone'][number][] = [];
  #hasClosed = false;

  constructor(parts: FoldParts, { rows, closed }: Pick<FoldState, 'rows' | 'closed'>) {
    const { kind, windowMs } = parts.rule;
    this.#rule = parts.rule;
    this.#parts = parts;
    this.#isPart = kind.kind === 'ratio' ? compileMatcher(kind.part).matches : () => false;
    this.#isDecidedLater = kind.kind === 'ratio' || kind.kind === 'more_than_before';
    this.#closed = new ClosedWindows(windowMs / 2, closed);
    for (const { windowMs: beginMs, group, value, data } of rows) {
      const window = this.#windows.get(beginMs) ?? this.#keepWindow(beginMs, data as WindowData);
      if (value !== '') this.#keepValue(window, window.entries.get(group) as Entry, value);
      else if (group !== '') this.#keepEntry(window, group, data as EntryData);
    }
    this.takeChanges();
  }

  /** Has the next changes be all that is kept. */
  markAll(): void {
    [this.#newValues, this.#gone, this.#hasClosed] = [[], [], true];
    for (const window of this.#windows.values()) {
      this.#changedWindows.add(window);
      for (const entry of window.entries.values()) {
        this.#changedEntries.add(entry);
        for (const value of entry.values ?? []) this.#newValues.push([entry, value]);
      }
    }
  }

  takeChanges(): Pick<FoldChanges, 'rows' | 'gone' | 'closed'> {
    const rows: FoldRow[] = [];
    for (const { isGone, beginMs, closesAtMs, decideAtMs, isCut } of this.#changedWindows) {
      if (!isGone) rows.push({ windowMs: beginMs, group: '', value: '', data: { closesAtMs, decideAtMs, isCut } satisfies WindowData });
    }
    const isKept = (entry: Entry) => this.#windows.get(entry.windowMs)?.entries.get(entry.group) === entry;
    for (const entry of this.#changedEntries) {
      const { windowMs, group, count, part, mayHit } = entry;
      if (isKept(entry)) rows.push({ windowMs, group, value: '', data: { count, part, mayHit } satisfies EntryData });
    }
    for (const [entry, value] of this.#newValues) {
      if (isKept(entry) && entry.values !== null) rows.push({ windowMs: entry.windowMs, group: entry.group, value, data: null });
    }
    const changes = { rows, gone: this.#gone, closed: this.#hasClosed ? [...this.#closed.ranges] : null };
    this.#changedWindows.clear();
    this.#changedEntries.clear();
    [this.#newValues, this.#gone, this.#hasClosed] = [[], [], false];
    return changes;
  }

  /** Counts an event in both of its windows. */
  count(event: CountedEvent, group: string, subject: MatchSubject): void {
    const { kind, windowMs } = this.#rule;
    const found = kind.kind === 'distinct' ? fieldValue(event, kind.field) : undefined;
    const value = found === undefined ? undefined : groupKey([keptValue(found)]);
    const { timestamp } = event;
    const counted = { group, value, part: this.#isPart(subject) ? 1 : 0, timestamp };
    const stepMs = windowMs / 2;
    const lastMs = Math.floor(timestamp / stepMs) * stepMs;
    this.#countIn(lastMs - stepMs, counted);
    this.#countIn(lastMs, counted);
  }

  /** Works off what is due for a window. Returns whether it is kept no longer. */
  workOff({ kind, atMs, windowMs }: Due): boolean {
    const window = this.#windows.get(windowMs);
    if (window === undefined) return false;
    if (kind === 'close') return this.#close(window, atMs);
    if (window.decideAtMs === atMs) this.#decide(window);
    return false;
  }

  #decide(window: CountedWindow): void {
    window.decideAtMs = null;
    this.#changedWindows.add(window);
    const { facts } = this.#parts;
    const { kind, windowMs } = this.#rule;
    const { beginMs, entries } = window;
    if (kind.kind === 'more_than_before') {
      if (facts.timeMs < facts.hitsFromMs || beginMs - kind.before * windowMs < facts.historyFromMs) return;
    }
    const hits = [...entries.values()].filter((entry) => entry.mayHit && this.#meets(entry));
    for (const entry of hits.toSorted((one, other) => (one.group < other.group ? -1 : 1))) this.#hit(window, entry, beginMs + windowMs);
  }

  /** A window closes, and is kept for as long as its counts are needed. */
  #close(window: CountedWindow, atMs: number): boolean {
    const { beginMs, closesAtMs } = window;
    const neededToMs = this.#neededToMs(window);
    if (closesAtMs === atMs && !this.#closed.has(beginMs)) {
      this.#markClosed(beginMs);
      if (neededToMs > atMs) this.#parts.dues.add({ atMs: neededToMs, kind: 'close', windowMs: beginMs, group: '' });
    }
    if (neededToMs !== atMs) return false;
    this.#drop(window);
    const { facts, retentionMs } = this.#parts;
    this.#closed.forget(facts.timeMs - retentionMs - this.#rule.windowMs);
    this.#hasClosed = true;
    return true;
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
    const mayHit = this.#rule.kind.kind !== 'ratio' || !window.isCut;
    const entry = window.entries.get(group) ?? this.#keepEntry(window, group, { count: 0, part: 0, mayHit });
    this.#changedEntries.add(entry);
    entry.count += 1;
    entry.part += part;
    if (isNewValue) this.#keepValue(window, entry, value);
    if (this.#isDecidedLater) this.#awaitDecision(window);
    else if (entry.mayHit && this.#meets(entry)) this.#hit(window, entry, timestamp);
  }

  #awaitDecision(window: CountedWindow): void {
    if (window.decideAtMs !== null) return;
    const { dues, facts } = this.#parts;
    window.decideAtMs = Math.max(window.beginMs + this.#rule.windowMs, facts.timeMs) + SETTLE_MS;
    this.#changedWindows.add(window);
    dues.add({ atMs: window.decideAtMs, kind: 'decide', windowMs: window.beginMs, group: '' });
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
    this.#changedEntries.add(entry);
    if (entry.values !== null) {
      // Its values go with it, before it comes again without them.
      this.#gone.push({ windowMs: entry.windowMs, group: entry.group });
      this.#take(window, 0, -valueBytes(entry));
      entry.values = null;
    }
    this.#parts.book.hit(window.beginMs, entry.group, completedAtMs);
  }

  #openWindow(beginMs: number): CountedWindow {
    const { windowMs, lateMs } = this.#rule;
    const { facts, retentionMs } = this.#parts;
    const closesAtMs = Math.max(beginMs + windowMs, facts.timeMs) + Math.min(lateMs, retentionMs);
    return this.#keepWindow(beginMs, { closesAtMs, decideAtMs: null, isCut: false });
  }

  #keepWindow(beginMs: number, data: WindowData): CountedWindow {
    const { rule, dues, budget } = this.#parts;
    const giveUp = (isOnlyOne: boolean) => this.#giveUp(window, isOnlyOne);
    const window: CountedWindow = { beginMs, ...data, rule: rule.name, entries: new Map(), bytes: 0, isGone: false, giveUp };
    this.#windows.set(beginMs, window);
    this.#changedWindows.add(window);
    budget.addWindow(window);
    this.#take(window, 0, WINDOW_BYTES);
    const closesAtMs = this.#closed.has(beginMs) ? this.#neededToMs(window) : data.closesAtMs;
    dues.add({ atMs: closesAtMs, kind: 'close', windowMs: beginMs, group: '' });
    if (data.decideAtMs !== null) dues.add({ atMs: data.decideAtMs, kind: 'decide', windowMs: beginMs, group: '' });
    return window;
  }

  #keepEntry(window: CountedWindow, group: string, { count, part, mayHit }: EntryData): Entry {
    const entry: Entry = { windowMs: window.beginMs, group, count, part, mayHit, values: null };
    window.entries.set(group, entry);
    this.#take(window, 1, ENTRY_BYTES + group.length);
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
  #neededToMs({ beginMs, closesAtMs }: CountedWindow): number {
    const { kind, windowMs, lateMs } = this.#rule;
    if (!this.#isDecidedLater) return closesAtMs;
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
    const { beginMs, entries } = window;
    this.#parts.facts.bounded += 1;
    if (!isOnlyOne || entries.size < 2) {
      this.#markClosed(beginMs);
      this.#drop(window);
      return;
    }
    const lowestFirst = [...entries.values()].toSorted((one, other) => one.count - other.count || (one.group > other.group ? -1 : 1));
    for (const entry of lowestFirst.slice(0, Math.ceil(lowestFirst.length / 2))) {
      entries.delete(entry.group);
      this.#gone.push({ windowMs: beginMs, group: entry.group });
      this.#take(window, -1, -ENTRY_BYTES - entry.group.length - valueBytes(entry));
    }
    window.isCut = true;
    this.#changedWindows.add(window);
    this.#lackHistory(window);
  }

  #markClosed(beginMs: number): void {
    this.#closed.add(beginMs);
    this.#hasClosed = true;
  }

  #drop(window: CountedWindow): void {
    window.isGone = true;
    this.#windows.delete(window.beginMs);
    this.#take(window, -window.entries.size, -window.bytes);
    this.#parts.budget.removeWindow();
    this.#gone.push({ windowMs: window.beginMs, group: '' });
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

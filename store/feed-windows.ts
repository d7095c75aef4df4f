import type { SealedStretch } from './feed-plan.ts';
import type { FeedWindow } from './feed-window.ts';

/** One that is read and one that comes next, for a reader and a half. */
const MOST_WINDOWS = 3;
/** A reader that does not come back within this time begins with a new one. */
const IDLE_MS = 10_000;

interface Entry {
  readonly zones: string;
  readonly after: bigint;
  readonly upTo: bigint;
  readonly window: Promise<FeedWindow>;
  readers: number;
  isDropped: boolean;
  /** By the order of use, and by the timer's ticks. */
  usedAt: number;
  idleTicks: number;
}

export interface FeedWindowsOptions {
  readonly build: (table: string, stretch: SealedStretch) => Promise<FeedWindow>;
  /** Frees a table that nobody reads. */
  readonly dropTable: (name: string) => void;
}

/** The windows that readers of the feed are in. A few at a time: each has up to a hundred megabytes. */
export class FeedWindows {
  readonly #options: FeedWindowsOptions;
  #entries: readonly Entry[] = [];
  #made = 0;
  #uses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedWindowsOptions) {
    this.#options = options;
  }

  /** Works on the window that has what comes behind `after`, if there is one; `next` says what a new one is to have, undefined: no window. */
  async use<T>(
    zones: SealedStretch['zones'],
    after: bigint,
    next: () => SealedStretch | undefined,
    work: (window: FeedWindow) => Promise<T>,
  ): Promise<T | undefined> {
    const entry = this.#find(zones, after) ?? this.#open(next());
    if (entry === undefined) {
      return undefined;
    }
    entry.readers += 1;
    this.#uses += 1;
    entry.usedAt = this.#uses;
    entry.idleTicks = 0;
    try {
      return await work(await entry.window);
    } finally {
      entry.readers -= 1;
      this.#freeIfDropped(entry);
    }
  }

  /** Begins with the window behind `after`, unless it is there or there is no room. */
  prepare(zones: SealedStretch['zones'], after: bigint, next: () => SealedStretch | undefined): void {
    if (this.#entries.length < MOST_WINDOWS && this.#find(zones, after) === undefined) {
      this.#open(next());
    }
  }

  /** Says that a reader is through with the window that has `after`. */
  done(zones: SealedStretch['zones'], after: bigint): void {
    const entry = this.#find(zones, after);
    if (entry !== undefined) {
      this.#drop(entry);
    }
  }

  /** Waits for what is being built. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#entries.map(({ window }) => window));
  }

  #find(zones: SealedStretch['zones'], sequence: bigint): Entry | undefined {
    const key = String(zones);
    return this.#entries.find(({ zones, after, upTo }) => zones === key && after <= sequence && sequence < upTo);
  }

  #open(stretch: SealedStretch | undefined): Entry | undefined {
    if (stretch === undefined) {
      return undefined;
    }
    this.#made += 1;
    const { zones, after, upTo } = stretch;
    const window = this.#options.build(`feed_${this.#made}`, stretch);
    const entry = { zones: String(zones), after, upTo, window, readers: 0, isDropped: false, usedAt: this.#uses, idleTicks: 0 };
    // Whoever waits for it is told; where nobody does, the next reader begins anew.
    window.catch(() => this.#drop(entry));
    this.#entries = [...this.#entries, entry];
    const idle = this.#entries.filter((other) => other.readers === 0 && other !== entry).sort((a, b) => a.usedAt - b.usedAt);
    for (const other of idle.slice(0, Math.max(0, this.#entries.length - MOST_WINDOWS))) {
      this.#drop(other);
    }
    this.#timer ??= setInterval(() => this.#tick(), IDLE_MS / 2).unref();
    return entry;
  }

  #tick(): void {
    for (const entry of this.#entries) {
      entry.idleTicks = entry.readers > 0 ? 0 : entry.idleTicks + 1;
      if (entry.idleTicks > 2) {
        this.#drop(entry);
      }
    }
    if (this.#entries.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #drop(entry: Entry): void {
    this.#entries = this.#entries.filter((other) => other !== entry);
    entry.isDropped = true;
    this.#freeIfDropped(entry);
  }

  #freeIfDropped(entry: Entry): void {
    if (!entry.isDropped || entry.readers > 0) {
      return;
    }
    entry.window.then(
      ({ table }) => this.#options.dropTable(table),
      // A statement that fails leaves no table.
      () => undefined,
    );
  }
}

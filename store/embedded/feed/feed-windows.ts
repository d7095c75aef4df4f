import { SerialQueue } from '../../serial-queue.ts';
import type { FlushedRange } from './feed-plan.ts';
import type { FeedWindow } from './feed-window.ts';

/** A reader holds two windows, the one it reads and the next one, and a second reader finds room for one more. */
const MAX_WINDOWS = 3;
/** A reader that does not come back within this time begins with a new one. */
const IDLE_MS = 10_000;

interface Entry {
  /** The zones it is for. */
  readonly key: string;
  readonly window: Promise<FeedWindow>;
  readonly after: bigint;
  /** That of the range until it is made, then its own. */
  upTo: bigint;
  isMade: boolean;
  /** By the order of use, and by the timer's ticks. */
  usedAt: number;
  idleTicks: number;
}

/** The windows that readers of the feed are in. There are a few at most, made and being made, because they take memory. */
export class FeedWindows {
  readonly #make: (range: FlushedRange) => Promise<FeedWindow>;
  /** One window is made at a time, because to make one takes more than twice the memory that it keeps. */
  readonly #making = new SerialQueue();
  #entries: readonly Entry[] = [];
  #uses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(make: (range: FlushedRange) => Promise<FeedWindow>) {
    this.#make = make;
  }

  /** The window that has what comes behind `after`, if there is one. It may turn out to end before. */
  find(zones: FlushedRange['zones'], after: bigint): Promise<FeedWindow> | undefined {
    const entry = this.#entryOf(zones, after);
    if (entry === undefined) {
      return undefined;
    }
    this.#uses += 1;
    entry.usedAt = this.#uses;
    entry.idleTicks = 0;
    return entry.window;
  }

  /**
   * Makes a window, and drops one that was not used lately where there is no room. Returns undefined where all were used lately:
   * readers that drop each other's windows in turn would make a window for every page.
   */
  open(range: FlushedRange): Promise<FeedWindow> | undefined {
    if (this.#entries.length >= MAX_WINDOWS) {
      const [oldest] = this.#entries.filter(({ idleTicks }) => idleTicks > 0).sort((a, b) => a.usedAt - b.usedAt);
      if (oldest === undefined) {
        return undefined;
      }
      this.#drop(oldest);
    }
    const { zones, after, upTo } = range;
    const window = this.#making.run(() => this.#make(range));
    this.#uses += 1;
    const entry: Entry = { key: String(zones), window, after, upTo, isMade: false, usedAt: this.#uses, idleTicks: 0 };
    this.#entries = [...this.#entries, entry];
    window.then(
      (made) => {
        entry.isMade = true;
        entry.upTo = made.upTo;
      },
      // Those who wait for it are told; the next reader begins anew.
      () => this.#drop(entry),
    );
    this.#timer ??= setInterval(() => this.#tick(), IDLE_MS / 2).unref();
    return window;
  }

  /** Begins with the window of a range, unless it is there or there is no room. */
  prepare(range: FlushedRange): void {
    if (this.#entries.length < MAX_WINDOWS && this.#entryOf(range.zones, range.after) === undefined) {
      void this.open(range);
    }
  }

  /** Says that a reader is through with the window that has `after`. */
  done(zones: FlushedRange['zones'], after: bigint): void {
    const entry = this.#entryOf(zones, after);
    if (entry !== undefined) {
      this.#drop(entry);
    }
  }

  /** Waits for what is being made. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#entries.map(({ window }) => window));
    this.#entries = [];
  }

  #entryOf(zones: FlushedRange['zones'], sequence: bigint): Entry | undefined {
    const key = String(zones);
    return this.#entries.find((entry) => entry.key === key && entry.after <= sequence && sequence < entry.upTo);
  }

  #tick(): void {
    for (const entry of this.#entries) {
      entry.idleTicks = entry.isMade ? entry.idleTicks + 1 : 0;
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
  }
}

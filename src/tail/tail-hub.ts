import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore, FeedPage } from '../../store/event-store.ts';
import { SerialQueue } from '../../store/serial-queue.ts';
import { StoreError } from '../../store/store-error.ts';
import { cursorText } from '../feed/feed-cursor.ts';
import { heartbeatFrame } from './tail-frames.ts';
import { collectFrames, type PageReading, WatcherPage, zonesOf } from './tail-page.ts';
import type { TailWatcher } from './tail-watcher.ts';
import { WorkSlices } from './tail-work.ts';

export type TailStore = Pick<EventStore, 'readFeed' | 'lastSequence' | 'onEvents' | 'expiredWatermark' | 'storeId'>;

interface TailLogger {
  warn(details: object, message: string): void;
}

export interface TailHubOptions {
  readonly store: TailStore;
  readonly logger: TailLogger;
  readonly heartbeatMs: number;
  /** What matching may cost for all together, in characters that are looked through in a second. */
  readonly workPerSecond: number;
}

/** What the tail has sent and left out so far. */
export interface TailTotals {
  readonly sent: number;
  readonly dropped: number;
}

const PAGE_EVENTS = 4_096;
/** A page for one watcher that is catching up; it waits until the client has read it. */
const CATCH_UP_EVENTS = 256;
/** Between two reads, so that batches of a few events do not cost a statement each. */
const PACE_MS = 80;
const RETRY_MS = 1_000;

/**
 * All watchers of the live tail. New events are read once for all who follow them, matched and written; a client that does not read loses
 * events and is told how many, and nobody else notices. One that resumes is first brought up to date by itself, from the store and at its
 * own pace.
 */
export class TailHub {
  readonly #options: TailHubOptions;
  readonly #stopped = new AbortController();
  /** Those that get events as they come. */
  readonly #following = new Set<TailWatcher>();
  /** Those that will from the next read on. */
  readonly #joining = new Set<TailWatcher>();
  readonly #catchingUp = new Set<TailWatcher>();
  readonly #catchUps = new SerialQueue();
  readonly #slices = new WorkSlices();
  #position = 0n;
  #isReading = false;
  #stopListening: (() => void) | null = null;
  #heartbeat: NodeJS.Timeout | null = null;
  #sent = 0;
  #dropped = 0;

  constructor(options: TailHubOptions) {
    this.#options = options;
  }

  get watcherCount(): number {
    return this.#following.size + this.#joining.size + this.#catchingUp.size;
  }

  get totals(): TailTotals {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  /** Lets a watcher have the events after its place, until it is gone. */
  add(watcher: TailWatcher): void {
    if (this.#stopped.signal.aborted) watcher.end();
    if (watcher.gone.aborted) return;
    watcher.gone.addEventListener('abort', () => this.#remove(watcher), { once: true });
    this.#stopListening ??= this.#options.store.onEvents(() => this.#wake());
    this.#heartbeat ??= setInterval(() => this.#beat(), this.#options.heartbeatMs);
    if (watcher.after >= this.#options.store.lastSequence()) {
      this.#join(watcher);
    } else {
      this.#catchingUp.add(watcher);
      void this.#catchUp(watcher);
    }
  }

  /** Ends every stream. */
  stop(): void {
    this.#stopped.abort();
    for (const watcher of this.#all()) watcher.end();
  }

  *#all(): Iterable<TailWatcher> {
    yield* [...this.#following, ...this.#joining, ...this.#catchingUp];
  }

  #remove(watcher: TailWatcher): void {
    for (const group of [this.#following, this.#joining, this.#catchingUp]) group.delete(watcher);
    if (this.watcherCount > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
    clearInterval(this.#heartbeat ?? undefined);
    this.#heartbeat = null;
  }

  #join(watcher: TailWatcher): void {
    this.#joining.add(watcher);
    this.#wake();
  }

  #beat(): void {
    for (const watcher of this.#all()) watcher.keepAlive(heartbeatFrame(cursorText(watcher.position, this.#options.store)));
  }

  async #catchUp(watcher: TailWatcher): Promise<void> {
    const { store, logger } = this.#options;
    const readPage = () =>
      store.readFeed({ zones: watcher.zones, afterSequence: watcher.after, limit: CATCH_UP_EVENTS }, { signal: watcher.gone });
    try {
      for (let more = true; more; ) {
        // One at a time: after a restart everybody comes back at once.
        const page = await this.#catchUps.run(readPage);
        // When it comes back, it is told that it has missed events.
        if (store.expiredWatermark(watcher.zones, watcher.afterRuns) > watcher.after) return watcher.end();
        const its = new Map<TailWatcher, WatcherPage>();
        await this.#slices.run(collectFrames([watcher], this.#reading(page, true), its));
        const { frames, events, tooCostly } = its.get(watcher) ?? new WatcherPage();
        watcher.write(frames);
        this.#sent += events;
        this.#dropped += tooCostly;
        watcher.after = page.lastSequence;
        more = page.more;
        await watcher.drained();
        await delay(watcher.work.waitMs(this.#workPerSecond, performance.now()), undefined, { signal: watcher.gone });
      }
      this.#catchingUp.delete(watcher);
      this.#join(watcher);
    } catch (error) {
      if (watcher.gone.aborted) return;
      logger.warn({ err: error }, 'a live tail could not be brought up to date; its client may come back');
      watcher.end();
    }
  }

  #wake(): void {
    if (!this.#isReading) void this.#read();
  }

  /** Reads until nothing new is left. Whatever comes up while it is under way is seen before it ends. */
  async #read(): Promise<void> {
    this.#isReading = true;
    for (;;) {
      this.#letIn();
      if (this.#following.size === 0 || this.#position >= this.#options.store.lastSequence()) break;
      const began = performance.now();
      const pauseMs = await this.#readPage();
      await this.#pause(pauseMs - (performance.now() - began));
    }
    this.#isReading = false;
  }

  /** Reads and delivers a page; returns how long after its beginning the next one may follow, in milliseconds. */
  async #readPage(): Promise<number> {
    const { store, logger } = this.#options;
    const followers = [...this.#following];
    try {
      const page = await store.readFeed({ zones: zonesOf(followers), afterSequence: this.#position, limit: PAGE_EVENTS });
      await this.#slices.run(this.#deliver(followers, page));
      return page.more ? 0 : PACE_MS;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'closed') {
        this.stop();
      } else {
        logger.warn({ err: error }, 'the live tail could not read new events; it tries again');
      }
      return RETRY_MS;
    }
  }

  /** Whoever joins may be some events behind: those are read again for him, and the others pass over them. */
  #letIn(): void {
    for (const watcher of this.#joining) {
      if (this.#following.size === 0 || watcher.after < this.#position) this.#position = watcher.after;
      this.#following.add(watcher);
    }
    this.#joining.clear();
  }

  get #workPerSecond(): number {
    return this.#options.workPerSecond / this.watcherCount;
  }

  #reading(page: FeedPage, isPaced: boolean): PageReading {
    return { page, store: this.#options.store, isPaced, workPerSecond: this.#workPerSecond };
  }

  *#deliver(followers: readonly TailWatcher[], page: FeedPage): Generator<void, void> {
    const pages = new Map<TailWatcher, WatcherPage>();
    yield* collectFrames(followers, this.#reading(page, false), pages);
    for (const [watcher, { frames, events, tooCostly }] of pages) {
      if (watcher.gone.aborted) continue;
      this.#dropped += tooCostly;
      if (watcher.offer(frames, events + tooCostly)) this.#sent += events;
      else this.#dropped += events;
      if (watcher.after < page.lastSequence) watcher.after = page.lastSequence;
      yield;
    }
    this.#position = page.lastSequence;
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
  }
}

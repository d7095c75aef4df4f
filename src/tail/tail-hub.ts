import { setTimeout as delay } from 'node:timers/promises';
import { Counter, type Registry } from 'prom-client';
import { wantedTogether } from '../../query/plan/wanted-events.ts';
import type { EventStore, FeedPage, FeedPosition, StoreLogger } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { SerialQueue } from '../../work/serial-queue.ts';
import { levelRead } from '../http/metric-registry.ts';
import { heartbeatFrame } from './tail-frames.ts';
import { collectFrames, type PageReading, WatcherPage } from './tail-page.ts';
import type { TailWatcher } from './tail-watcher.ts';

export interface TailHubOptions {
  readonly store: Pick<EventStore, 'readFeed' | 'onEvents' | 'positions'>;
  readonly logger: Pick<StoreLogger, 'warn'>;
  readonly turns: MainThreadTurns;
  readonly heartbeatMs: number;
  /** The characters that matching may look through in a second, for all tails together. */
  readonly workPerSecond: number;
}

/** Events sent and left out so far, by the labels of the metric. */
export interface TailTotals {
  readonly sent: number;
  readonly dropped: number;
}

const PAGE_EVENTS = 4_096;
/** Size of a page for one watcher that is catching up. The next page waits until the client has read it. */
const CATCH_UP_EVENTS = 256;
/** Pause between two reads, so that batches of a few events do not cost a statement each. */
const PACE_MS = 80;
const RETRY_MS = 1_000;

/**
 * Serves all watchers of the live tail. New events are read once for all watchers that follow, then matched and written. A client that does
 * not read loses events and is told how many, without an effect on others. A client that resumes first catches up: it reads pages of its
 * own from the store, at its own pace.
 */
export class TailHub {
  readonly #options: TailHubOptions;
  readonly #stopped = new AbortController();
  /** Watchers that get events as they come. */
  readonly #following = new Set<TailWatcher>();
  /** Watchers that have caught up and follow from the next read on. */
  readonly #joining = new Set<TailWatcher>();
  /** Watchers that read older events from the store. */
  readonly #catchingUp = new Set<TailWatcher>();
  readonly #catchUpReads = new SerialQueue();
  /** Every following watcher has all events up to here; undefined before the first one follows. */
  #position: FeedPosition | undefined;
  #isReading = false;
  /** Whether events arrived, or a watcher joined, since the read under way began. */
  #hasNews = false;
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

  /** Sends a watcher the events after its position until it is gone. */
  add(watcher: TailWatcher): void {
    if (this.#stopped.signal.aborted) watcher.end();
    if (watcher.gone.aborted) return;
    watcher.gone.addEventListener('abort', () => this.#remove(watcher), { once: true });
    this.#stopListening ??= this.#options.store.onEvents(() => this.#wake());
    this.#heartbeat ??= setInterval(() => this.#beat(), this.#options.heartbeatMs);
    this.#catchingUp.add(watcher);
    void this.#catchUp(watcher);
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
    for (const watcher of this.#all()) watcher.keepAlive(heartbeatFrame(this.#options.store.positions.encode(watcher.position)));
  }

  async #catchUp(watcher: TailWatcher): Promise<void> {
    const { store, logger, turns } = this.#options;
    const { positions } = store;
    const readPage = () =>
      store.readFeed({ ...wantedTogether([watcher]), after: watcher.position, limit: CATCH_UP_EVENTS }, { signal: watcher.gone });
    try {
      for (let more = positions.compare(watcher.position, await positions.newest()) < 0; more; ) {
        // Reads wait for one another, because after a restart all clients come back at once.
        const page = await this.#catchUpReads.run(readPage);
        // Retention removed events after its position. The client comes back and is told so.
        if ((await positions.afterExpiry(watcher.zones, watcher.position)) !== undefined) return watcher.end();
        const pages = new Map<TailWatcher, WatcherPage>();
        await turns.runSteps(collectFrames([watcher], this.#reading(page, true), pages));
        const { frames, events, tooCostly } = pages.get(watcher) ?? new WatcherPage();
        watcher.write(frames);
        this.#sent += events;
        this.#dropped += tooCostly;
        watcher.position = page.end;
        more = page.more;
        await watcher.drained();
        await delay(watcher.work.waitMs(this.#workPerSecond, performance.now()), undefined, { signal: watcher.gone });
      }
      if (this.#catchingUp.delete(watcher)) this.#join(watcher);
    } catch (error) {
      if (watcher.gone.aborted) return;
      logger.warn({ err: error }, 'a live tail could not be brought up to date; its client may come back');
      watcher.end();
    }
  }

  #wake(): void {
    this.#hasNews = true;
    if (!this.#isReading) void this.#read();
  }

  /** Reads until nothing new is left, including events that arrive while it reads. */
  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#hasNews) {
      this.#hasNews = false;
      this.#admitJoining();
      const began = performance.now();
      const pauseMs = await this.#readPage();
      if (pauseMs === null) continue;
      this.#hasNews = true;
      await this.#pause(pauseMs - (performance.now() - began));
    }
    this.#isReading = false;
  }

  /** Reads and delivers a page. Returns how long after its start the next read may begin, in milliseconds, or null if nothing is new. */
  async #readPage(): Promise<number | null> {
    const { store, logger, turns } = this.#options;
    const followers = [...this.#following];
    const after = this.#position;
    if (followers.length === 0 || after === undefined) return null;
    try {
      if (store.positions.compare(after, await store.positions.newest()) >= 0) return null;
      const page = await store.readFeed({ ...wantedTogether(followers), after, limit: PAGE_EVENTS });
      await turns.runSteps(this.#deliver(followers, page));
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

  /**
   * Moves the joining watchers to the following ones. Events that one of them has not had yet are read again, and the other watchers skip
   * them.
   */
  #admitJoining(): void {
    for (const watcher of this.#joining) {
      const lacksEvents = this.#position !== undefined && this.#options.store.positions.compare(watcher.position, this.#position) < 0;
      if (this.#following.size === 0 || lacksEvents) this.#position = watcher.position;
      this.#following.add(watcher);
    }
    this.#joining.clear();
  }

  get #workPerSecond(): number {
    return this.#options.workPerSecond / this.watcherCount;
  }

  #reading(page: FeedPage, isPaced: boolean): PageReading {
    return { page, positions: this.#options.store.positions, isPaced, workPerSecond: this.#workPerSecond };
  }

  *#deliver(followers: readonly TailWatcher[], page: FeedPage): Generator<void, void> {
    const pages = new Map<TailWatcher, WatcherPage>();
    yield* collectFrames(followers, this.#reading(page, false), pages);
    for (const [watcher, { frames, events, tooCostly }] of pages) {
      if (watcher.gone.aborted) continue;
      this.#dropped += tooCostly;
      if (watcher.offer(frames, events + tooCostly)) this.#sent += events;
      else this.#dropped += events;
      watcher.position = this.#options.store.positions.advance(watcher.position, page.end);
      yield;
    }
    this.#position = page.end;
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
  }
}

/** Registers the metrics of the tail. */
export function registerTailMetrics(registry: Registry, hub: TailHub): void {
  levelRead(registry, 'shieldlog_tail_watchers', 'Clients of the live tail', () => hub.watcherCount);
  new Counter({
    name: 'shieldlog_tail_events_total',
    help: 'Events sent to clients of the live tail (sent), and left out, unread or too costly to match (dropped)',
    labelNames: ['verdict'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [verdict, count] of Object.entries(hub.totals)) this.inc({ verdict }, count);
    },
  });
}

import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { CursorAhead, type EventStore, type FeedPosition, type StoreLogger } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import type { AlertKeeper } from './alert-keeper.ts';
import type { CursorRefusal } from './alert-state.ts';
import type { EvaluationFacts } from './alerts-overview.ts';
import { type PagePlace, packed, type WantedPage } from './feed-pages.ts';
import type { NextStep } from './rule-evaluation.ts';

/** The limit of a page is between the least and the most of these events, and begins with the one between; in bytes the store bounds it. */
const LEAST_PAGE_EVENTS = 100;
const FIRST_PAGE_EVENTS = 1_250;
const PAGE_EVENTS = 20_000;
/** The limit is halved by a page that takes longer: the thread of alerts does nothing else meanwhile, and a stop waits for it. */
const SLOW_PAGE_MS = 1_000;
/** The limit is doubled by a page that takes less, if at least half as many events as the limit were counted. */
const QUICK_PAGE_MS = 250;
/** For so many sets of rules the limit is kept. Two sets take turns, and rules that join others make a new one. */
const KEPT_LIMITS = 4;
/** The least time between two pages. */
const PACE_MS = 250;
/** The feed is looked at after this time even where nothing came, because alerts are resolved by the time of the intake. */
const IDLE_MS = 1_000;
const RETRY_MS = 1_000;
/** Rules of the kind `silence` look at zones that often, and at those that had events for so long. */
const LOOK_MS = MINUTE_MS;
const LOOK_BACK_MS = DAY_MS;

export interface AlertEvaluatorOptions {
  readonly store: Pick<EventStore, 'onEvents' | 'positions'>;
  /** The reads of the store, in their turn among those of others. */
  readonly reads: Pick<EventStore, 'readFeed' | 'activeZones'>;
  readonly keeper: Pick<AlertKeeper, 'next' | 'takePage' | 'refuse' | 'look'>;
  /** Whether no other program follows rules of the store. Is asked before a page is read, and again before anything is counted. */
  readonly mayFollow: () => boolean;
  /** Whether all that is sent comes in, so that a zone without events has none. */
  readonly isUpToDate: () => Promise<boolean>;
  /** Is called where there are new messages in the outbox, and must not throw. */
  readonly onQueued: () => void;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: StoreLogger;
}

/** What a reader of pages needs of it. */
export interface RuleReaderOptions extends Pick<AlertEvaluatorOptions, 'mayFollow' | 'now' | 'logger'> {
  readonly store: Pick<EventStore, 'positions'>;
  readonly reads: Pick<EventStore, 'readFeed'>;
  readonly keeper: Pick<AlertKeeper, 'next' | 'takePage' | 'refuse'>;
}

const REFUSALS: Readonly<Record<CursorRefusal, string>> = {
  ahead: 'the store has lost the last events that alerts had read; they go on with what came since',
  unknown: 'the store is another one than alerts had read, or an older copy; their rules begin as new ones',
  expired: 'events expired that alerts had not read; they go on with what is left',
};

/** Why a cursor is refused, and the one to go on with; null: there is none. */
interface Refused {
  readonly refusal: CursorRefusal;
  readonly goesOn: string | null;
}

interface ReadStep {
  readonly step: NextStep;
  /** Whether the rules that have joined have read all that there was. */
  readonly isAtEnd: boolean;
}

/** Reads the pages that rules want. */
export class RuleReader {
  /** Why cursors were refused. */
  readonly refused = new Set<CursorRefusal>();
  readonly #options: RuleReaderOptions;
  /** The limit of the next page, in events, by the rules that want it. */
  readonly #limits = new Map<string, number>();
  /** The position of a cursor that was made last. */
  #known: { readonly cursor: string; readonly position: FeedPosition } | undefined;

  constructor(options: RuleReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads a page, and has it counted, unless another program follows rules by then. Rejects with `StoreError`, and with what the thread
   * fails with.
   */
  async step(wanted: WantedPage, signal?: AbortSignal): Promise<ReadStep> {
    const { store, reads, keeper, mayFollow, now } = this.#options;
    const { positions } = store;
    const { zones, where, key, rules } = wanted;
    const until = wanted.until === null ? null : await this.#position({ cursor: wanted.until });
    if (until !== null && 'refusal' in until) return await this.#refuse(key, 'until', until);
    const after = await this.#position(wanted.after);
    if ('refusal' in after) return await this.#refuse(key, 'after', after);
    const limit = this.#limits.get(rules) ?? FIRST_PAGE_EVENTS;
    const page = await reads.readFeed({ zones, where, logs: false, after, limit }, signal && { signal });
    // It is asked behind the read, because events may expire in between.
    const left = await positions.afterExpiry(zones, after);
    if (left !== undefined) return await this.#refuse(key, 'after', { refusal: 'expired', goesOn: positions.encode(left) });
    const { end, completeToMs, unreadable } = page;
    const lines = until === null ? page.lines : page.lines.filter((line) => positions.compare(line, until) <= 0);
    const hasReachedUntil = until !== null && positions.compare(end, until) >= 0;
    const cursor = positions.encode(end);
    // Another program may have begun to follow rules during a long read, and tells what is in the page.
    if (!mayFollow()) return { step: await keeper.next(), isAtEnd: false };
    const counted = { key, end: cursor, hasReachedUntil, completeToMs, unreadable, ...packed(lines) };
    const begunMs = performance.now();
    const step = await keeper.takePage(counted, now());
    this.#keepLimit(rules, limitBehind(limit, lines.length, performance.now() - begunMs));
    this.#known = { cursor, position: end };
    return { step, isAtEnd: until === null && !page.more };
  }

  #keepLimit(rules: string, limit: number): void {
    if (!this.#limits.has(rules) && this.#limits.size === KEPT_LIMITS) this.#limits.clear();
    this.#limits.set(rules, limit);
  }

  async #position(place: PagePlace | 'newest'): Promise<FeedPosition | Refused> {
    const { positions } = this.#options.store;
    if (place === 'newest') return await positions.newest();
    if ('atMs' in place) return await positions.at(place.atMs);
    if (this.#known?.cursor === place.cursor) return this.#known.position;
    const decoded = await positions.decode(place.cursor);
    if (typeof decoded === 'string') return { refusal: 'unknown', goesOn: null };
    if (!(decoded instanceof CursorAhead)) return decoded;
    const { goesOnAfter, isEndKnown } = decoded;
    return isEndKnown ? { refusal: 'ahead', goesOn: positions.encode(goesOnAfter) } : { refusal: 'unknown', goesOn: null };
  }

  async #refuse(key: string, place: 'after' | 'until', { refusal, goesOn }: Refused): Promise<ReadStep> {
    // Where a cursor leads is asked of the store, which may take as long as a page.
    if (!this.#options.mayFollow()) return { step: await this.#options.keeper.next(), isAtEnd: false };
    this.#options.logger.warn({ refusal }, REFUSALS[refusal]);
    this.refused.add(refusal);
    return { step: await this.#options.keeper.refuse(key, place, refusal, goesOn), isAtEnd: false };
  }
}

/** The limit behind a page of `limit` events at most, of which so many were counted in `tookMs`. */
function limitBehind(limit: number, events: number, tookMs: number): number {
  if (tookMs > SLOW_PAGE_MS) return Math.max(LEAST_PAGE_EVENTS, Math.floor(limit / 2));
  // How soon a page with few events is counted says nothing of a full one.
  return tookMs < QUICK_PAGE_MS && events >= limit / 2 ? Math.min(PAGE_EVENTS, 2 * limit) : limit;
}

/** Reads the feed for the rules of alerts, page by page from the cursor of their state, until it is stopped. */
export class AlertEvaluator {
  /** Resolves when it reads no more, because there is no rule, or it is stopped. */
  readonly ended: Promise<void>;
  readonly #options: AlertEvaluatorOptions;
  readonly #stopping = new AbortController();
  readonly #reader: RuleReader;
  #facts: EvaluationFacts | undefined;
  /** When zones were looked at, Unix ms UTC. */
  #lookedAtMs = 0;
  /** Why it does not get on. */
  #failure: string | undefined;

  constructor(options: AlertEvaluatorOptions) {
    this.#options = options;
    this.#reader = new RuleReader(options);
    this.ended = this.#run();
  }

  /** How far it has come; undefined before its state is open. */
  get facts(): EvaluationFacts | undefined {
    return this.#facts;
  }

  /** Says for people what they have to look at. */
  notes(): readonly string[] {
    const failure = this.#failure === undefined ? [] : [`alerts do not get on, and try again: ${this.#failure}`];
    return [...failure, ...[...this.#reader.refused].map((refusal) => REFUSALS[refusal])];
  }

  /** Resolves when the page under way is counted or given up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { keeper, mayFollow, logger } = this.#options;
    let step: NextStep | undefined;
    while (!signal.aborted) {
      try {
        if (!mayFollow()) {
          await delay(RETRY_MS, undefined, { signal });
          continue;
        }
        step ??= this.#told(await keeper.next());
        if (step.wanted === null) return;
        const began = performance.now();
        using news = this.#news();
        const read: ReadStep = await this.#reader.step(step.wanted, signal);
        step = await this.#look(this.#told(read.step));
        if (this.#failure !== undefined) logger.info({}, 'alerts get on again');
        this.#failure = undefined;
        if (read.isAtEnd) await Promise.race([news.promise, delay(IDLE_MS, undefined, { signal })]);
        await delay(Math.max(0, PACE_MS - (performance.now() - began)), undefined, { signal });
      } catch (error) {
        if (signal.aborted || (error instanceof StoreError && error.code === 'closed')) return;
        const { message } = error as Error;
        if (this.#failure !== message) logger.error({ err: error }, 'alerts do not get on; they try again');
        this.#failure = message;
        step = undefined;
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #told(step: NextStep): NextStep {
    this.#facts = step.facts;
    if (step.hasQueued) this.#options.onQueued();
    return step;
  }

  /** Looks at zones where it is time for it. */
  async #look(step: NextStep): Promise<NextStep> {
    const { reads, keeper, mayFollow, now, isUpToDate } = this.#options;
    const nowMs = now();
    if (!step.facts.looksAtZones || Math.abs(nowMs - this.#lookedAtMs) < LOOK_MS) return step;
    this.#lookedAtMs = nowMs;
    if (!(await isUpToDate())) return step;
    // Events may be some minutes ahead of the clock.
    const window = { fromMs: nowMs - LOOK_BACK_MS, toMs: nowMs + HOUR_MS };
    const zones = await reads.activeZones(window, 'all', { signal: this.#stopping.signal });
    return mayFollow() ? this.#told(await keeper.look(zones, nowMs)) : step;
  }

  /** Resolves when more events are visible. */
  #news(): { readonly promise: Promise<void> } & Disposable {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { promise, [Symbol.dispose]: this.#options.store.onEvents(resolve) };
  }
}

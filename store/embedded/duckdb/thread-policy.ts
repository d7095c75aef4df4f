import { performance } from 'node:perf_hooks';
import { duckdbStatement } from '../../../sql/dialect.ts';
import { int32, sql } from '../../../sql/statement.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { StatementRunner } from './statement-runner.ts';

export interface ThreadPolicyOptions {
  /** A runner that nothing else uses: another statement would interrupt the one that sets the threads. */
  readonly runner: StatementRunner;
  readonly cores: number;
  /** So long after the last bulk load queries get every core again, and so long after the last search bulk loads may take them. */
  readonly idleMs: number;
  /** The share of the time since the last call in which the main thread was busy, 0 to 1. Default: as Node measures it. */
  readonly mainThreadUse?: () => number;
  /** Milliseconds since any fixed time. Default: the clock of the process. */
  readonly now?: () => number;
  readonly logger: StoreLogger;
}

/** So many events within a second are bulk intake, in one load or in many. */
const BULK_EVENTS = 4_000;
const SECOND_MS = 1_000;

/** The main thread keeps a core busy, and so does the load or the flush that runs beside a query. */
const CORES_OF_INGEST = 2;

/** The main thread is busier than this only where events come in about as fast as they can be taken in. */
const FULL_SPEED_USE = 0.6;

/** Returns a function that returns the share of the time since its last call in which the main thread was busy. */
function mainThreadUse(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, last);
    last = current;
    return utilization;
  };
}

/**
 * Sets how many threads DuckDB gives a query or a flush. During bulk intake queries get fewer threads, because several statements run at
 * the same time, and a thread that waits for another one's part of a query spins. While somebody searches during bulk intake, queries keep
 * all cores, unless the main thread is saturated.
 */
export class ThreadPolicy {
  readonly #options: ThreadPolicyOptions;
  #wanted: number;
  #set: number;
  #setting: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  readonly #mainThreadUse: () => number;
  readonly #now: () => number;
  #second = { beganMs: Number.NEGATIVE_INFINITY, events: 0 };
  #isFullSpeed = false;
  /** Number of searches under way. */
  #searches = 0;
  #searchEndedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ThreadPolicyOptions) {
    this.#options = options;
    this.#wanted = options.cores;
    this.#set = options.cores;
    this.#mainThreadUse = options.mainThreadUse ?? mainThreadUse();
    this.#now = options.now ?? (() => performance.now());
  }

  /** Has to be called for every load, with its number of events. */
  load(events: number): void {
    const now = this.#now();
    const sinceMs = now - this.#second.beganMs;
    if (sinceMs >= SECOND_MS) {
      this.#second = { beganMs: now, events: 0 };
      const use = this.#mainThreadUse();
      // Over a longer time the thread was busy with something else: at first with opening the store.
      this.#isFullSpeed = sinceMs < 2 * SECOND_MS && use > FULL_SPEED_USE;
    }
    this.#second.events += events;
    if (this.#second.events >= BULK_EVENTS) {
      this.#bulk();
    }
  }

  /** Notes that a search is under way until it is disposed. */
  beginSearch(): Disposable {
    if (!this.#isFullSpeed) {
      this.#want(this.#options.cores);
    }
    this.#searches += 1;
    return {
      [Symbol.dispose]: () => {
        this.#searches -= 1;
        this.#searchEndedMs = this.#now();
      },
    };
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#wanted = this.#set;
    await this.#setting;
  }

  #bulk(): void {
    const { cores, idleMs } = this.#options;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#want(cores), idleMs);
    this.#idleTimer.unref();
    const isSearched = this.#searches > 0 || this.#now() - this.#searchEndedMs < idleMs;
    this.#want(isSearched && !this.#isFullSpeed ? cores : Math.max(1, cores - CORES_OF_INGEST));
  }

  #want(threads: number): void {
    this.#wanted = threads;
    this.#setting ??= this.#apply().finally(() => {
      this.#setting = undefined;
    });
  }

  async #apply(): Promise<void> {
    while (this.#set !== this.#wanted) {
      const threads = this.#wanted;
      try {
        await this.#options.runner.run(duckdbStatement(sql`SET threads = ${int32(threads)}`));
      } catch (error) {
        this.#options.logger.warn({ err: error, threads }, 'the number of threads of a query could not be changed');
      }
      this.#set = threads;
    }
  }
}

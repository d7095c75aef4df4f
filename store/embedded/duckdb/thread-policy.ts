import { performance } from 'node:perf_hooks';
import type { DuckDBConnection } from '@duckdb/node-api';
import { setThreadsStatement } from '../../../sql/journal-statements.ts';
import type { StoreLogger } from '../../store-logger.ts';
import type { SearchActivity } from '../runtime/search-activity.ts';
import { runStatement } from './duckdb-engine.ts';

export interface ThreadPolicyOptions {
  /** Of its own: a statement that runs on it must not be interrupted by another. */
  readonly connection: DuckDBConnection;
  readonly cores: number;
  readonly searches: SearchActivity;
  /** How long after the last bulk load queries get every core again, and after the last search bulk loads may take them. */
  readonly idleMs: number;
  /** Which part of the time since it was last asked the main thread was busy. Default: what Node says. */
  readonly mainThreadUse?: () => number;
  /** Milliseconds since any fixed time. Default: those of the process. */
  readonly now?: () => number;
  readonly logger: StoreLogger;
}

/** So many events within a second are a bulk, in one load or in many. */
const BULK_EVENTS = 4_000;
const SECOND_MS = 1_000;

/** The main thread, and the load or the flush that runs beside a query, each keep a core busy. */
const CORES_OF_INGEST = 2;

/** The main thread is busier than this only where events come in about as fast as they can be taken. */
const FULL_SPEED_USE = 0.6;

/** Tells which part of the time since it was last asked the main thread was busy. */
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
 * How many threads DuckDB gives a query, a flush too. A thread that waits for another one's part of a query spins, and while events come in
 * bulk several statements run at the same time anyway: then fewer threads do more work. Otherwise a query gets every core; so it does in
 * bulk while somebody searches, unless the intake runs at full speed: one that does not leaves a part of the cores free.
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

  constructor(options: ThreadPolicyOptions) {
    this.#options = options;
    this.#wanted = options.cores;
    this.#set = options.cores;
    this.#mainThreadUse = options.mainThreadUse ?? mainThreadUse();
    this.#now = options.now ?? (() => performance.now());
  }

  /** To be called for every load. */
  load(events: number): void {
    const now = this.#now();
    const sinceMs = now - this.#second.beganMs;
    if (sinceMs >= SECOND_MS) {
      this.#second = { beganMs: now, events: 0 };
      const use = this.#mainThreadUse();
      // Over a longer time it tells of something else that the thread was busy with, opening the store at first.
      this.#isFullSpeed = sinceMs < 2 * SECOND_MS && use > FULL_SPEED_USE;
    }
    this.#second.events += events;
    if (this.#second.events >= BULK_EVENTS) {
      this.#bulk();
    }
  }

  /** Runs a search. */
  async forSearch<T>(search: () => Promise<T>): Promise<T> {
    const { cores, searches } = this.#options;
    if (!this.#isFullSpeed) {
      this.#want(cores);
    }
    return await searches.during(search);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#wanted = this.#set;
    await this.#setting;
  }

  #bulk(): void {
    const { cores, searches, idleMs } = this.#options;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#want(cores), idleMs);
    this.#idleTimer.unref();
    this.#want(!searches.isIdle(idleMs) && !this.#isFullSpeed ? cores : Math.max(1, cores - CORES_OF_INGEST));
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
        await runStatement(this.#options.connection, setThreadsStatement(threads));
      } catch (error) {
        this.#options.logger.warn({ err: error, threads }, 'the number of threads of a query could not be changed');
      }
      this.#set = threads;
    }
  }
}

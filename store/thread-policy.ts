import type { DuckDBConnection } from '@duckdb/node-api';
import { setThreadsStatement } from '../sql/journal-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import type { StoreLogger } from './store-logger.ts';

export interface ThreadPolicyOptions {
  /** Of its own: a statement that runs on it must not be interrupted by another. */
  readonly connection: DuckDBConnection;
  readonly cores: number;
  /** How long after the last bulk load queries get every core again. */
  readonly quietMs: number;
  readonly logger: StoreLogger;
}

/** So many events within a second are a bulk, in one load or in many. */
const BULK_EVENTS = 4_000;
const SECOND_MS = 1_000;

/** The main thread, and the load or the seal that runs beside a query, each keep a core busy. */
const CORES_OF_INGEST = 2;

/**
 * How many threads DuckDB gives a query, a seal too. A thread that waits for another one's part of a query spins, and while events come in bulk several
 * statements run at the same time anyway: then fewer threads do more work. Otherwise a query gets every core.
 */
export class ThreadPolicy {
  readonly #options: ThreadPolicyOptions;
  #wanted: number;
  #set: number;
  #setting: Promise<void> | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #second = { beganMs: 0, events: 0 };

  constructor(options: ThreadPolicyOptions) {
    this.#options = options;
    this.#wanted = options.cores;
    this.#set = options.cores;
  }

  /** To be called for every load. */
  load(events: number): void {
    const now = performance.now();
    if (now - this.#second.beganMs >= SECOND_MS) {
      this.#second = { beganMs: now, events: 0 };
    }
    this.#second.events += events;
    if (this.#second.events >= BULK_EVENTS) {
      this.#bulk();
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#quiet);
    this.#wanted = this.#set;
    await this.#setting;
  }

  #bulk(): void {
    const { cores, quietMs } = this.#options;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#want(cores), quietMs);
    this.#quiet.unref();
    this.#want(Math.max(1, cores - CORES_OF_INGEST));
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

import { StoreError, storeClosed } from '../../store-error.ts';
import type { FlushQueue, ImmutableMemtable } from '../memtable/memtable-loader.ts';
import { type FlushOptions, flushMemtable } from './flush-memtable.ts';

/**
 * Maximum number of immutable memtables in memory: one whose logs are written, one whose fields are written, and one that waits. The loader
 * waits rather than close another one.
 */
export const MAX_IMMUTABLE_MEMTABLES = 3;
const RETRY_DELAY_MS = 2_000;

/** Flushes immutable memtables, one after the other. A flush that fails is tried again; its events stay in memory and in their journals. */
export class Flusher implements FlushQueue {
  readonly #options: FlushOptions;
  readonly #waiting: ImmutableMemtable[] = [];
  #running: Promise<void> | undefined;
  #stopped = false;
  #wake: (() => void) | undefined;
  #roomWaiters: (() => void)[] = [];
  #failure: Error | undefined;
  #onArrival: (() => void) | undefined;

  constructor(options: FlushOptions) {
    this.#options = options;
  }

  /** Why the last attempt failed, while it is tried again. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  enqueue(closed: ImmutableMemtable): void {
    this.#waiting.push(closed);
    this.#onArrival?.();
    this.#running ??= this.#run();
  }

  /** Resolves when another memtable may wait, or when the flusher stops. Rejects while flushes fail, because room may be long in coming. */
  async room(): Promise<void> {
    while (this.#waiting.length >= MAX_IMMUTABLE_MEMTABLES && !this.#stopped) {
      if (this.#failure !== undefined) {
        const message = `memory is full of events that cannot be moved to disk: ${this.#failure.message}`;
        throw new StoreError('append_failed', message, { cause: this.#failure });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#roomWaiters.push(resolve);
      await promise;
    }
  }

  /** Resolves when no memtable waits. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /**
   * Resolves when the memtables with the journals up to this one are published. Rejects where a flush fails, although it is tried again,
   * and when the flusher stops.
   */
  async published(upTo: number): Promise<void> {
    while (this.#waiting.some(({ progress }) => progress.flushedJournal <= upTo)) {
      if (this.#stopped) {
        throw storeClosed();
      }
      if (this.#failure !== undefined) {
        const message = `events cannot be moved to disk: ${this.#failure.message}`;
        throw new StoreError('backup_failed', message, { cause: this.#failure });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#roomWaiters.push(resolve);
      await promise;
    }
  }

  /** Finishes the flushes under way. The other memtables stay in their journals. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    this.#onArrival?.();
    this.#letWaitersOn();
    await this.#running;
  }

  /**
   * Flushes what waits until nothing does. It writes the fields of a memtable while the logs of the one before are written. After a
   * failure, once no flush is under way, it begins again with the first memtable that is not published.
   */
  async #run(): Promise<void> {
    const underWay = new Map<ImmutableMemtable, Promise<void>>();
    let last = Promise.resolve();
    while (underWay.size > 0 || (!this.#stopped && this.#waiting.length > 0)) {
      const closed = this.#stopped ? undefined : this.#waiting.find((one) => !underWay.has(one));
      const goesOn = Promise.withResolvers<void>();
      if (closed === undefined) {
        this.#onArrival = goesOn.resolve;
      } else {
        const onPublished = () => {
          underWay.delete(closed);
          this.#failure = undefined;
          this.#waiting.shift();
          this.#letWaitersOn();
        };
        last = flushMemtable(closed, { before: last, onFieldsWritten: goesOn.resolve, onPublished }, this.#options);
        underWay.set(closed, last);
      }
      try {
        await Promise.race([goesOn.promise, last]);
      } catch (error) {
        await Promise.allSettled(underWay.values());
        underWay.clear();
        last = Promise.resolve();
        this.#failure = error as Error;
        this.#letWaitersOn();
        this.#options.logger.error({ err: error }, 'flushing failed; the events stay in memory and in the journal, and it is tried again');
        await this.#pause();
      }
    }
    this.#running = undefined;
  }

  #letWaitersOn(): void {
    for (const resolve of this.#roomWaiters.splice(0)) {
      resolve();
    }
  }

  async #pause(): Promise<void> {
    if (this.#stopped) {
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, RETRY_DELAY_MS);
    await promise;
    clearTimeout(timer);
  }
}

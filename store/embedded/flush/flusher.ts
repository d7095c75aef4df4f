import { setTimeout as delay } from 'node:timers/promises';
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
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  /** Resolves when a memtable comes or is published, a flush fails, or the flusher stops. */
  #change = Promise.withResolvers<void>();

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
    this.#tellChange();
    this.#running ??= this.#run();
  }

  /** Resolves when another memtable may wait, or when the flusher stops. Rejects while flushes fail, because room may be long in coming. */
  async room(): Promise<void> {
    while (this.#waiting.length >= MAX_IMMUTABLE_MEMTABLES && !this.#isStopped) {
      if (this.#failure !== undefined) {
        const message = `memory is full of events that cannot be moved to disk: ${this.#failure.message}`;
        throw new StoreError('append_failed', message, { cause: this.#failure });
      }
      await this.#change.promise;
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
      if (this.#isStopped) {
        throw storeClosed();
      }
      if (this.#failure !== undefined) {
        const message = `events cannot be moved to disk: ${this.#failure.message}`;
        throw new StoreError('backup_failed', message, { cause: this.#failure });
      }
      await this.#change.promise;
    }
  }

  /** Finishes the flushes under way. The other memtables stay in their journals. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#tellChange();
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * Flushes what waits until nothing does. It writes the fields of a memtable while the logs of the one before are written. After a
   * failure, once no flush is under way, it begins again with the first memtable that is not published.
   */
  async #run(): Promise<void> {
    const underWay = new Map<ImmutableMemtable, Promise<void>>();
    let last = Promise.resolve();
    while (underWay.size > 0 || (!this.#isStopped && this.#waiting.length > 0)) {
      const closed = this.#isStopped ? undefined : this.#waiting.find((one) => !underWay.has(one));
      let goesOn = this.#change.promise;
      if (closed !== undefined) {
        const written = Promise.withResolvers<void>();
        const onPublished = () => {
          underWay.delete(closed);
          this.#failure = undefined;
          this.#waiting.shift();
          this.#tellChange();
        };
        last = flushMemtable(closed, { before: last, onFieldsWritten: written.resolve, onPublished }, this.#options);
        underWay.set(closed, last);
        goesOn = written.promise;
      }
      try {
        await Promise.race([goesOn, last]);
      } catch (error) {
        await Promise.allSettled(underWay.values());
        underWay.clear();
        last = Promise.resolve();
        this.#failure = error as Error;
        this.#tellChange();
        this.#options.logger.error({ err: error }, 'flushing failed; the events stay in memory and in the journal, and it is tried again');
        await delay(RETRY_DELAY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
    this.#running = undefined;
  }

  #tellChange(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers<void>();
    resolve();
  }
}

import { SerialQueue } from '../../serial-queue.ts';
import type { StoreLogger } from '../../store-logger.ts';
import type { LogMemory } from '../blob/log-memory.ts';
import type { ZoneRowCache } from '../cache/zone-row-cache.ts';
import type { DeadLetters } from '../catalog/dead-letters.ts';
import type { Flusher } from '../flush/flusher.ts';
import type { RewriteOptions } from '../flush/segment-rewrite.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { AppendPipeline } from '../memtable/append-pipeline.ts';
import type { Loader } from '../memtable/loader.ts';
import type { PartRemover } from '../snapshot/part-remover.ts';
import { runMerge, type WriteMerge } from './compaction.ts';
import { chooseMerge } from './merge-choice.ts';
import type { MergeWriter } from './merge-writer.ts';
import { dropExpiredSegments, type RetentionOptions } from './retention.ts';

export interface BackgroundJobsOptions {
  readonly pipeline: AppendPipeline;
  readonly loader: Loader;
  readonly flusher: Flusher;
  readonly remover: PartRemover;
  readonly journals: JournalFolder;
  readonly logMemory: LogMemory;
  readonly compaction: RewriteOptions;
  readonly merges: MergeWriter;
  readonly retention: RetentionOptions;
  readonly deadLetters: DeadLetters;
  readonly zoneRowCache: ZoneRowCache;
  readonly now: () => number;
  readonly everyMs: number;
  readonly logger: StoreLogger;
}

/**
 * Runs what the store does by itself from time to time: flushes old memtables, drops expired segments, evicts unused zones, and compacts
 * while no events come in.
 */
export class BackgroundJobs {
  readonly #options: BackgroundJobsOptions;
  readonly #queue = new SerialQueue();
  readonly #timer: NodeJS.Timeout;
  #due = false;
  #lettersDue = false;
  #stopped = false;

  constructor(options: BackgroundJobsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), options.everyMs);
    this.#timer.unref();
  }

  /** Flushes the memtable; resolves when it is in segments and its journals are gone. */
  async flushNow(): Promise<void> {
    const { pipeline, loader, flusher, remover } = this.#options;
    await pipeline.betweenLoads(() => loader.close());
    await flusher.idle();
    await remover.idle();
  }

  /** Merges until there is nothing worth merging, and gives back what is kept for events that may come. */
  async compact(): Promise<void> {
    const { merges } = this.#options;
    await this.#queue.run(() =>
      this.#compact(
        (order) => merges.writeAtOnce(order),
        () => true,
      ),
    );
    await this.#giveRoomBack();
  }

  /** Drops the segments and the dead letters that have expired by now. */
  async dropExpired(): Promise<void> {
    const { retention, deadLetters, now } = this.#options;
    await this.#queue.run(async () => {
      await dropExpiredSegments(retention, now());
      await deadLetters.removeExpired(now());
    });
  }

  /** Gives up the merge that is being written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#options.merges.giveUp();
    await this.#queue.idle();
  }

  #tick(): void {
    this.#giveRoomBack().catch((error: unknown) => {
      this.#options.logger.warn({ err: error }, 'files of old journals could not be removed; they are removed at the next start');
    });
    this.#removeExpiredLetters();
    if (this.#due) {
      return;
    }
    this.#due = true;
    this.#queue
      .run(() => this.#work())
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'the background jobs of the store failed; they are tried again');
      })
      .finally(() => {
        this.#due = false;
      });
  }

  /** Beside the other jobs: flushing waits neither for the letters' disk nor for its troubles. */
  #removeExpiredLetters(): void {
    const { deadLetters, now, logger } = this.#options;
    if (this.#lettersDue) {
      return;
    }
    this.#lettersDue = true;
    deadLetters
      .removeExpired(now())
      .catch((error: unknown) => {
        logger.error({ err: error }, 'expired dead letters could not be removed; that is tried again');
      })
      .finally(() => {
        this.#lettersDue = false;
      });
  }

  /** While nothing comes in, no journal has a use for the files and the memory of older ones. */
  async #giveRoomBack(): Promise<void> {
    const { pipeline, flusher, journals, logMemory } = this.#options;
    if (flusher.isIdle && pipeline.pendingBytes === 0) {
      logMemory.giveRoomBack();
      await journals.removeRecycled();
    }
  }

  async #work(): Promise<void> {
    const { pipeline, loader, flusher, merges, retention, zoneRowCache, now } = this.#options;
    zoneRowCache.evictUnused();
    // First: it makes room on a disk that may be too full for the rest.
    await dropExpiredSegments(retention, now());
    await pipeline.betweenLoads(() => loader.closeIfOld());
    // Merging competes with ingest for the same cores, and can wait.
    await this.#compact(
      (order) => merges.writeInBackground(order),
      () => flusher.isIdle && pipeline.pendingBytes === 0,
    );
  }

  async #compact(write: WriteMerge, isTime: () => boolean): Promise<void> {
    const { compaction, now } = this.#options;
    while (!this.#stopped && isTime()) {
      const merge = chooseMerge(compaction.versions.segments, now());
      if (merge === undefined) {
        return;
      }
      try {
        await runMerge(merge, write, compaction);
      } catch (error) {
        // What was being written then has been given up.
        if (!this.#stopped) {
          throw error;
        }
      }
    }
  }
}

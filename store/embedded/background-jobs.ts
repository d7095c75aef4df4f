import { SerialQueue } from '../../work/serial-queue.ts';
import type { StoreLogger } from '../event-store.ts';
import type { RetentionHold, SweepAskedBy } from '../retention-hold.ts';
import type { LogMemory } from './blob/memtable-logs.ts';
import type { DeadLetters } from './catalog/dead-letter-thread.ts';
import { FailedMerges } from './compaction/failed-merges.ts';
import { type MergeWriter, runMerge, type WriteMerge } from './compaction/merge.ts';
import { chooseMerge, LARGEST_MERGE_ROWS, type Merge, totalRows } from './compaction/merge-choice.ts';
import { isOutOfMemory } from './duckdb/statement-runner.ts';
import type { Flusher } from './flush/flusher.ts';
import type { JournalFolder } from './journal/journal-folder.ts';
import type { AppendPipeline } from './memtable/append-pipeline.ts';
import type { Loader } from './memtable/memtable-loader.ts';
import type { Scrub } from './repair/scrub.ts';
import { dropExpiredSegments, type RetentionOptions } from './retention/retention.ts';
import { isOfLargeVectors } from './segment/segment-writer.ts';
import type { PartRemover } from './snapshot/part-remover.ts';
import type { PublishOptions } from './snapshot/publish-segments.ts';

/** The parts of a store that the jobs work on. */
export interface BackgroundJobsOptions {
  readonly pipeline: Pick<AppendPipeline, 'betweenLoads' | 'pendingBytes'>;
  readonly loader: Pick<Loader, 'close' | 'closeIfOld'>;
  readonly flusher: Pick<Flusher, 'idle' | 'isIdle'>;
  readonly remover: Pick<PartRemover, 'idle'>;
  readonly scrub: Pick<Scrub, 'readNext'>;
  readonly journals: Pick<JournalFolder, 'removeRecycled' | 'removeSetAside'>;
  readonly logMemory: Pick<LogMemory, 'giveRoomBack'>;
  readonly compaction: PublishOptions;
  readonly merges: Pick<MergeWriter, 'writeInBackground' | 'writeAtOnce' | 'giveUp'>;
  readonly retention: RetentionOptions;
  readonly deadLetters: Pick<DeadLetters, 'removeExpired'>;
  readonly letterHold: RetentionHold;
  readonly now: () => number;
  readonly everyMs: number;
  readonly logger: StoreLogger;
}

type Job = 'room' | 'dead letters' | 'damaged journals' | 'retention' | 'scrub' | 'flush' | 'compaction';

/**
 * Runs the jobs of a store every `everyMs`: it flushes old memtables, drops expired segments and dead letters, checks files, and compacts
 * while no events come in. A job waits for none but itself, and the removal of letters and journals for that of segments.
 */
export class BackgroundJobs {
  readonly #options: BackgroundJobsOptions;
  readonly #retention = new SerialQueue();
  readonly #compaction = new SerialQueue();
  readonly #failedMerges = new FailedMerges();
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Map<Job, Promise<void>>();
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

  /**
   * Merges until no merge is worth its work; segments whose merge failed a short time ago are tried again. Removes the files that were
   * merged, unless somebody reads them, and gives back the memory and files that are kept for events to come. Rejects where a merge fails,
   * with an error that names its segments.
   */
  async compact(): Promise<void> {
    const { merges, compaction, remover, now } = this.#options;
    await this.#compaction.run(() =>
      this.#compact(
        (task) => merges.writeAtOnce(task),
        (mostRows) => chooseMerge(this.#failedMerges.mergeable(compaction.versions.segments, Number.MAX_VALUE), now(), mostRows),
      ),
    );
    await remover.idle();
    await this.#giveRoomBack();
  }

  /** Drops the segments, the dead letters and the journals set aside that have expired by now, whatever the clock. */
  async dropExpired(): Promise<void> {
    const { deadLetters, journals, retention, now } = this.#options;
    await this.#dropExpiredSegments('caller');
    await deadLetters.removeExpired(now(), () => false);
    await journals.removeSetAside(now() - retention.retentionMs);
  }

  /** Gives up the merge that is being written, and waits for the other jobs on segments. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#options.merges.giveUp();
    await Promise.all([this.#retention.idle(), this.#compaction.idle(), this.#running.get('scrub'), this.#running.get('flush')]);
  }

  #tick(): void {
    const { pipeline, loader, merges, deadLetters, letterHold, scrub, journals, retention, now } = this.#options;
    const failed = 'failed in the background; it is tried again';
    this.#start('room', `the removal of the files of old journals ${failed}, and at the next start`, () => this.#giveRoomBack());
    this.#start('retention', `the removal of expired segments ${failed}`, () => this.#dropExpiredSegments('clock'));
    this.#start('dead letters', 'expired dead letters could not be removed; that is tried again', () =>
      this.#afterRetention(() => deadLetters.removeExpired(now(), (expired, all) => letterHold.keeps(expired, all))),
    );
    this.#start('damaged journals', `the removal of old damaged journals ${failed}`, () =>
      this.#afterRetention(() => journals.removeSetAside(now() - retention.retentionMs)),
    );
    this.#start('scrub', `the check of a file ${failed}`, () => scrub.readNext(() => this.#stopped));
    this.#start('flush', `the flush of an old memtable ${failed}`, () => pipeline.betweenLoads(() => loader.closeIfOld()));
    this.#start('compaction', `the compaction ${failed}`, () =>
      this.#compaction.run(() =>
        this.#compact(
          (task) => merges.writeInBackground(task),
          (mostRows) => this.#nextMerge(mostRows),
        ),
      ),
    );
  }

  /** Starts a job, unless it is still under way from the time before. */
  #start(job: Job, failure: string, run: () => Promise<unknown>): void {
    if (this.#running.has(job)) {
      return;
    }
    const running = run()
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, failure);
      })
      .finally(() => {
        this.#running.delete(job);
      });
    this.#running.set(job, running);
  }

  #dropExpiredSegments(askedBy: SweepAskedBy): Promise<number> {
    const { retention, now } = this.#options;
    return this.#retention.run(() => dropExpiredSegments(retention, now(), askedBy));
  }

  /** Removes other old things than segments after the retention, unless that doubts the clock. */
  async #afterRetention(remove: () => Promise<void>): Promise<void> {
    await this.#retention.idle();
    if (this.#options.retention.hold.reason === undefined) {
      await remove();
    }
  }

  /** Gives back the files and the memory that are kept for journals to come, while nothing comes in. */
  async #giveRoomBack(): Promise<void> {
    const { pipeline, flusher, journals, logMemory } = this.#options;
    if (flusher.isIdle && pipeline.pendingBytes === 0) {
      logMemory.giveRoomBack();
      await journals.removeRecycled();
    }
  }

  /** The next merge in the background. None while events come in: merging competes with that for the same cores, and can wait. */
  #nextMerge(mostRows: number): Merge | undefined {
    const { flusher, pipeline, compaction, now } = this.#options;
    const isTime = flusher.isIdle && pipeline.pendingBytes === 0;
    return isTime ? chooseMerge(this.#failedMerges.mergeable(compaction.versions.segments, now()), now(), mostRows) : undefined;
  }

  /** Carries merges out as long as there is one. After one that there is too little memory for, smaller ones are tried first. */
  async #compact(write: WriteMerge, next: (mostRows: number) => Merge | undefined): Promise<void> {
    let tooLarge: { readonly merge: Merge; readonly error: unknown } | undefined;
    for (let mostRows = LARGEST_MERGE_ROWS; !this.#stopped; ) {
      const merge = next(mostRows);
      if (merge === undefined) {
        if (tooLarge === undefined) return;
        throw this.#mergeFailed(tooLarge.merge, tooLarge.error);
      }
      try {
        await runMerge(merge, write, this.#options.compaction);
        tooLarge = undefined;
      } catch (error) {
        // After `stop` the merge was given up.
        if (this.#stopped) return;
        if (isOfLargeVectors(error)) {
          this.#failedMerges.leaveAlone(merge.segments);
        } else if (isOutOfMemory(error)) {
          tooLarge = { merge, error };
          mostRows = Math.floor(totalRows(merge.segments) / 2);
        } else {
          throw this.#mergeFailed(merge, error);
        }
      }
    }
  }

  /** Has the segments left alone for a while; returns the error that says so. */
  #mergeFailed({ segments }: Merge, cause: unknown): Error {
    const files = segments.map(({ file }) => file).join(', ');
    const waitMs = this.#failedMerges.add(segments, this.#options.now());
    return new Error(`the segments ${files} could not be merged, and are left alone for ${waitMs / 1_000} s`, { cause });
  }
}

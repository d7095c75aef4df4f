import { setTimeout as delay } from 'node:timers/promises';
import { SerialQueue } from '../../../work/serial-queue.ts';
import type { AppendReceipt, EventBatch } from '../../event-store.ts';
import { bytesOfBatch, fittingBatches, mergeBatches } from '../../merged-batches.ts';
import { CommitInDoubtError } from '../../sqlite-transaction.ts';
import { StoreError } from '../../store-error.ts';
import type { DeadLetters } from '../catalog/dead-letter-thread.ts';
import type { EpochTable } from '../catalog/epoch-table.ts';
import type { Journal, JournalEnd } from '../journal/journal.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import { firstError } from '../runtime/file-fault.ts';
import type { Loader } from './memtable-loader.ts';

const RETRY_DELAY_MS = 200;

/** Batches are stored together up to this size. A single batch may be larger. */
const MAX_EVENTS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** A receipt that also tells the number of the first event in the order of the store. */
export interface JournalReceipt extends AppendReceipt {
  readonly firstSequence: bigint;
}

export interface AppendPipelineOptions {
  readonly journals: JournalFolder;
  /** Where the dead letters of a batch become durable, before its source offsets do. */
  readonly deadLetters: Pick<DeadLetters, 'add'>;
  /** The epochs, of which that of this start begins before a sequence is given. */
  readonly epochs: Pick<EpochTable, 'begin'>;
  /** Makes journals searchable, one at a time in their order. */
  readonly loader: Pick<Loader, 'load' | 'end'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** So long does a failure tell how the next append ends. */
  readonly failureHoldMs: number;
}

interface Append {
  readonly batch: EventBatch;
  readonly bytes: number;
  readonly stored: PromiseWithResolvers<JournalReceipt>;
  failure: StoreError | undefined;
}

/**
 * Takes batches through two stages, each in the order of the calls: into a journal, then into the memtable. The stages overlap, so one
 * journal is written while the one before is loaded. A journal of a few events costs as much as one of a thousand, so batches that come
 * meanwhile are stored together.
 *
 * A batch that fails takes the batches with it and after it along, because their source offsets would pass over its events. Appends are
 * refused until the remains on disk are gone.
 */
export class AppendPipeline {
  readonly #options: AppendPipelineOptions;
  readonly #writing = new SerialQueue();
  readonly #loading = new SerialQueue();
  readonly #underWay = new Set<Append>();
  /** The appends under way that are not being written yet. */
  #waiting: Append[] = [];
  /** Batches wait, and are stored together, until the load of the last written journal has begun. */
  #lastLoadBegun: Promise<void> = Promise.resolve();
  #next: JournalEnd;
  #refusal: StoreError | undefined;
  #lastFailure: { readonly error: StoreError; readonly atMs: number } | undefined;
  #closed: StoreError | undefined;
  #pendingBytes = 0;

  constructor(options: AppendPipelineOptions) {
    this.#options = options;
    this.#next = options.loader.end;
  }

  /** Bytes of the batches that are not yet searchable, their dead letters included. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * Why appends are refused, while the remains of one that failed are not cleared away; else why the last one failed, such as for a full
   * disk, unless that is so long ago that another may be tried: who asks before he sends anything would wait for ever otherwise.
   */
  get failure(): StoreError | undefined {
    const last = this.#lastFailure;
    const isHeld = last !== undefined && performance.now() - last.atMs < this.#options.failureHoldMs;
    return this.#refusal ?? (isHeld ? last.error : undefined);
  }

  async append(batch: EventBatch): Promise<JournalReceipt> {
    const refusal = this.#closed ?? this.#refusal;
    if (refusal !== undefined) {
      throw refusal;
    }
    const append: Append = { batch, bytes: bytesOfBatch(batch), stored: Promise.withResolvers(), failure: undefined };
    this.#underWay.add(append);
    this.#waiting.push(append);
    this.#pendingBytes += append.bytes;
    void this.#storeWaiting();
    try {
      return await append.stored.promise;
    } finally {
      this.#underWay.delete(append);
      this.#pendingBytes -= append.bytes;
    }
  }

  /** Runs work between two loads. */
  betweenLoads<T>(work: () => Promise<T>): Promise<T> {
    return this.#loading.run(work);
  }

  /** Refuses further appends and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = new StoreError('closed', 'the store is closed');
    await this.#writing.idle();
    await this.#loading.idle();
  }

  /** Takes waiting batches, as many as fit into one journal, through both stages. Never rejects. */
  async #storeWaiting(): Promise<void> {
    const { journals, deadLetters, epochs, loader, now } = this.#options;
    using writing = await this.#writing.turn();
    await this.#lastLoadBegun;
    const group = this.#takeGroup();
    if (group.length === 0) {
      return;
    }
    const begun = Promise.withResolvers<void>();
    this.#lastLoadBegun = begun.promise;
    try {
      throwFailureOf(group);
      epochs.begin();
      const batch = mergeBatches(group.map((append) => append.batch));
      const notKept = batch.deadLetters.length === 0 ? [] : await deadLetters.add(batch.deadLetters, now());
      const journal = await journals.write(this.#next, batch, now());
      this.#next = { journal: this.#next.journal + 1, sequence: this.#next.sequence + BigInt(batch.eventCount) };
      // The turn is taken before the next group may write, so that loads and the work between them come in the order of the calls.
      const turn = this.#loading.turn();
      writing[Symbol.dispose]();
      using _loading = await turn;
      begun.resolve();
      throwFailureOf(group);
      const newSequences = await loader.load(journal, batch.logs);
      this.#lastFailure = undefined;
      acknowledge(group, journal, notKept, newSequences);
    } catch (error) {
      this.#reject(group, error);
    } finally {
      begun.resolve();
    }
  }

  /** Takes the next batches, as many as fit into one journal. */
  #takeGroup(): readonly Append[] {
    return this.#waiting.splice(0, fittingBatches(this.#waiting, MAX_EVENTS, MAX_BYTES));
  }

  /** Rejects the appends of a group: with the failure of a group before it, if one failed, and otherwise with the cause. */
  #reject(group: readonly Append[], cause: unknown): void {
    const [first] = group as [Append];
    const failure = first.failure ?? this.#fail(first, cause);
    for (const { stored } of group) {
      stored.reject(failure);
    }
  }

  #fail(failed: Append, cause: unknown): StoreError {
    const message = `a batch of ${failed.batch.eventCount} events could not be stored: ${(firstError(cause) as Error).message}`;
    const failure = new StoreError('append_failed', message, { cause });
    this.#lastFailure = { error: failure, atMs: performance.now() };
    let hasFailed = false;
    for (const append of this.#underWay) {
      hasFailed ||= append === failed;
      if (hasFailed) {
        append.failure ??= failure;
      }
    }
    if (cause instanceof CommitInDoubtError) {
      // The journal may be in the catalog. The program ends, and the next start finds out.
      this.#closed ??= failure;
    }
    if (this.#refusal === undefined && this.#closed === undefined) {
      this.#refusal = failure;
      void this.#writing.run(() => this.#clearAway());
    }
    return failure;
  }

  /**
   * Removes the journals of failed batches, so that their numbers and sequences are free again, and lets appends in. The last journal goes
   * first, so that a crash leaves no gap.
   */
  async #clearAway(): Promise<void> {
    await this.#loading.idle();
    const loaded = this.#options.loader.end;
    const count = this.#next.journal - loaded.journal + 1;
    const numbers = Array.from({ length: count }, (_, index) => this.#next.journal - index);
    // The next start removes the remains that a closed store leaves.
    while (this.#refusal !== undefined && this.#closed === undefined) {
      try {
        for (const number of numbers) {
          // Journals are removed one at a time: of several removals that are synced together, a power loss may keep any.
          await this.#options.journals.remove([number]);
        }
        this.#next = loaded;
        this.#refusal = undefined;
      } catch (error) {
        const message = `what a failed batch left in the journal cannot be removed: ${(error as Error).message}`;
        this.#refusal = new StoreError('append_failed', message, { cause: error });
        await delay(RETRY_DELAY_MS);
      }
    }
  }
}

/** Throws where a group before this one has failed. */
function throwFailureOf([first]: readonly Append[]): void {
  if (first?.failure !== undefined) {
    throw first.failure;
  }
}

/**
 * Resolves the appends of a loaded journal. `notKept` are the indices of dead letters among those of all batches, ascending; `newSequences`
 * are those of the events that were not stored before, or absent where that is all of them.
 */
function acknowledge(group: readonly Append[], journal: Journal, notKept: readonly number[], newSequences: Float64Array | undefined): void {
  const ascending = newSequences?.sort();
  let [firstSequence, next, lettersBefore, nextNotKept] = [journal.firstSequence, 0, 0, 0];
  for (const { batch, stored } of group) {
    const { eventCount } = batch;
    const lettersEnd = lettersBefore + batch.deadLetters.length;
    const deadLettersNotKept: number[] = [];
    for (let index = notKept[nextNotKept]; index !== undefined && index < lettersEnd; index = notKept[nextNotKept]) {
      deadLettersNotKept.push(index - lettersBefore);
      nextNotKept += 1;
    }
    lettersBefore = lettersEnd;
    const endSequence = firstSequence + BigInt(eventCount);
    let duplicates = 0;
    if (ascending !== undefined) {
      const from = next;
      while ((ascending[next] ?? Number.POSITIVE_INFINITY) < endSequence) {
        next += 1;
      }
      duplicates = eventCount - (next - from);
    }
    stored.resolve({ firstSequence, eventCount, duplicates, deadLettersNotKept });
    firstSequence = endSequence;
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { AppendPlace } from './append-place.ts';
import type { AppendReceipt, DeadLetter, EventBatch } from './event-store.ts';
import { type Journal, removeJournals, writeJournal } from './journal.ts';
import type { Loader } from './loader.ts';
import { SerialQueue } from './serial-queue.ts';
import { StoreError } from './store-error.ts';

const RETRY_DELAY_MS = 200;

export interface AppendPipelineOptions {
  readonly journalFolder: string;
  /** Makes what cannot become an event durable; called before the batch's positions are. */
  readonly keepDeadLetters: (letters: readonly DeadLetter[]) => void;
  /** Makes a journal on disk searchable, one at a time, in order, and knows the place behind the last one. */
  readonly loader: Pick<Loader, 'load' | 'end'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

interface Append {
  readonly batch: EventBatch;
  readonly sizeBytes: number;
  failure: StoreError | undefined;
}

/**
 * Takes batches through two stages, each one batch at a time and in call order: to the journal, then into the hot table.
 * The stages overlap, so one batch is written while the one before is loaded.
 *
 * A batch that fails takes those behind it along, because their source positions would otherwise pass over its events; appends
 * are refused until what they left on disk is gone.
 */
export class AppendPipeline {
  readonly #options: AppendPipelineOptions;
  readonly #writing = new SerialQueue();
  readonly #loading = new SerialQueue();
  readonly #underWay = new Set<Append>();
  #next: AppendPlace;
  #refusal: StoreError | undefined;
  #pendingBytes = 0;

  constructor(options: AppendPipelineOptions) {
    this.#options = options;
    this.#next = options.loader.end;
  }

  /** Bytes of batches that are not yet searchable, their dead letters included. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Why appends are refused at the moment: one has failed, and what it left is not cleared away yet. */
  get failure(): StoreError | undefined {
    return this.#refusal?.code === 'append_failed' ? this.#refusal : undefined;
  }

  async append(batch: EventBatch): Promise<AppendReceipt> {
    if (this.#refusal !== undefined) {
      throw this.#refusal;
    }
    const append: Append = { batch, sizeBytes: sizeOf(batch), failure: undefined };
    this.#underWay.add(append);
    this.#pendingBytes += append.sizeBytes;
    const written = this.#writing.run(() => this.#write(append));
    // The load looks at it in its turn, which may be later than it fails.
    written.catch(() => undefined);
    // The queue of loads is entered now, so that batches are loaded in the order of the calls.
    const loaded = this.#loading.run(async () => this.#load(append, await written));
    try {
      return await loaded;
    } finally {
      this.#underWay.delete(append);
      this.#pendingBytes -= append.sizeBytes;
    }
  }

  /** Runs work between two loads. */
  betweenLoads<T>(work: () => Promise<T>): Promise<T> {
    return this.#loading.run(work);
  }

  /** Refuses further appends and waits for those under way. */
  async close(): Promise<void> {
    this.#refusal = new StoreError('closed', 'the store is closed');
    await this.#writing.idle();
    await this.#loading.idle();
  }

  async #write(append: Append): Promise<Journal> {
    return await this.#guard(append, async () => {
      const { batch } = append;
      const { journalFolder, keepDeadLetters, now } = this.#options;
      const { journal, sequence } = this.#next;
      keepDeadLetters(batch.deadLetters);
      const written = await writeJournal(journalFolder, this.#next, batch, now());
      this.#next = { journal: journal + 1, sequence: sequence + BigInt(batch.eventCount) };
      return written;
    });
  }

  async #load(append: Append, journal: Journal): Promise<AppendReceipt> {
    return await this.#guard(append, async () => {
      await this.#options.loader.load(journal);
      return { firstSequence: journal.firstSequence, eventCount: journal.eventCount };
    });
  }

  async #guard<T>(append: Append, work: () => Promise<T>): Promise<T> {
    if (append.failure !== undefined) {
      throw append.failure;
    }
    try {
      return await work();
    } catch (error) {
      throw this.#fail(append, error);
    }
  }

  #fail(failed: Append, cause: unknown): StoreError {
    const message = `a batch of ${failed.batch.eventCount} events could not be stored: ${(cause as Error).message}`;
    const failure = new StoreError('append_failed', message, { cause });
    let behind = false;
    for (const append of this.#underWay) {
      behind ||= append === failed;
      if (behind) {
        append.failure ??= failure;
      }
    }
    if (this.#refusal === undefined) {
      this.#refusal = failure;
      void this.#writing.run(() => this.#clearAway());
    }
    return failure;
  }

  /**
   * Removes the journals of failed batches, so that their numbers and sequences can be given again, and lets appends in. The last one goes
   * first: should the process die in between, no gap is left.
   */
  async #clearAway(): Promise<void> {
    await this.#loading.idle();
    const loaded = this.#options.loader.end;
    const count = this.#next.journal - loaded.journal + 1;
    const numbers = Array.from({ length: count }, (_, place) => this.#next.journal - place);
    while (this.#refusal?.code === 'append_failed') {
      try {
        await removeJournals(this.#options.journalFolder, numbers);
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

/** A batch holds the bytes of its dead letters in memory for as long as those of its events. */
function sizeOf({ lines, deadLetters }: EventBatch): number {
  const eventBytes = lines.reduce((sum, line) => sum + line.byteLength, 0);
  return deadLetters.reduce((sum, { bytes }) => sum + bytes.byteLength, eventBytes);
}

import { setTimeout as delay } from 'node:timers/promises';
import { insertEventsStatement, WRITERS } from '../../../sql/clickhouse/insert-statement.ts';
import type { AppendReceipt, EventBatch } from '../../event-store.ts';
import { bytesOfBatch, fittingBatches, mergeBatches } from '../../merged-batches.ts';
import { batchFileOf, LOG_COLUMN } from '../../parquet/batch-file.ts';
import { StoreError, storeClosed } from '../../store-error.ts';
import type { ClickhouseClient } from '../server/client.ts';
import { ServerUnreachable } from '../server/server-error.ts';
import type { StoreClock } from '../server/store-clock.ts';
import { insertComment, type Visibility } from '../server/visibility.ts';
import type { SharedDeadLetters } from './dead-letters.ts';
import type { SourceOffsets } from './source-offsets.ts';

/** Batches are inserted together up to this size. A single batch may be larger. */
const MAX_EVENTS = 200_000;
const MAX_BYTES = 64 * 1024 * 1024;

interface InsertPipelineOptions {
  readonly client: ClickhouseClient;
  readonly clock: Pick<StoreClock, 'read'>;
  readonly visibility: Pick<Visibility, 'seesInserted'>;
  readonly database: string;
  /** The table that events are inserted into. */
  readonly table: string;
  readonly deadLetters: Pick<SharedDeadLetters, 'add'>;
  readonly sourceOffsets: Pick<SourceOffsets, 'add'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Inserts begin so long after one another at least, because each makes a part that ClickHouse has to merge. */
  readonly insertEveryMs: number;
  /** So long does a failure tell how the next insert ends. */
  readonly failureHoldMs: number;
}

interface Append {
  readonly batch: EventBatch;
  readonly bytes: number;
  readonly stored: PromiseWithResolvers<AppendReceipt>;
}

/**
 * Inserts batches in the order of the calls, one insert at a time; those that come meanwhile form the next one. The events of a batch are
 * stored before its source offsets, so that an insert whose answer is lost is made again: the copies are one event to every reader.
 *
 * A batch that fails takes those that wait along, because their source offsets would pass over its events.
 */
export class InsertPipeline {
  readonly #options: InsertPipelineOptions;
  /** Tells the sequences of this process from those of others. */
  readonly #writer = Math.floor(Math.random() * WRITERS);
  #waiting: Append[] = [];
  #inserting: Promise<void> | undefined;
  /** Settled when all that is stored is acknowledged. */
  #acknowledging: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #pendingBytes = 0;
  #storedEvents = 0;
  #expiredEvents = 0;
  #failure: { readonly error: StoreError; readonly atMs: number } | undefined;

  constructor(options: InsertPipelineOptions) {
    this.#options = options;
  }

  /** Bytes of the batches that are not yet searchable, their dead letters included. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** How many events this process has stored since it started, copies included. */
  get storedEvents(): number {
    return this.#storedEvents;
  }

  /** How many events were too old to be stored. */
  get expiredEvents(): number {
    return this.#expiredEvents;
  }

  /**
   * Why the last insert failed; undefined where it did not, where it failed for want of a server and one has answered since, or where it is
   * so long ago that another one may be tried: who asks before he sends anything would wait for ever otherwise.
   */
  get failure(): StoreError | undefined {
    const { client, failureHoldMs } = this.#options;
    const last = this.#failure;
    if (last === undefined || performance.now() - last.atMs >= failureHoldMs) {
      return undefined;
    }
    return last.error instanceof ServerUnreachable && !client.isAway ? undefined : last.error;
  }

  async append(batch: EventBatch): Promise<AppendReceipt> {
    if (this.#isClosed) {
      throw storeClosed();
    }
    const append: Append = { batch, bytes: bytesOfBatch(batch), stored: Promise.withResolvers() };
    this.#waiting.push(append);
    this.#pendingBytes += append.bytes;
    this.#inserting ??= this.#insertWaiting();
    try {
      return await append.stored.promise;
    } finally {
      this.#pendingBytes -= append.bytes;
    }
  }

  /** Refuses further appends and waits for those under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inserting;
    await this.#acknowledging;
  }

  /** Never rejects. */
  async #insertWaiting(): Promise<void> {
    // Batches of the same turn of the event loop go together.
    await undefined;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, fittingBatches(this.#waiting, MAX_EVENTS, MAX_BYTES));
      const begunAt = performance.now();
      try {
        const { receipts, seen } = await this.#insert(group);
        this.#failure = undefined;
        this.#acknowledge(group, receipts, seen);
      } catch (error) {
        const failure = failureOf(error, group);
        this.#failure = { error: failure, atMs: performance.now() };
        for (const { stored } of [...group, ...this.#waiting.splice(0)]) {
          stored.reject(failure);
        }
      }
      const left = begunAt + this.#options.insertEveryMs - performance.now();
      if (left > 0 && !this.#isClosed) {
        await delay(left);
      }
    }
    this.#inserting = undefined;
  }

  /**
   * Resolves the appends of a group that is stored, once readers see all of it: the sequences of its events are as many microseconds as
   * there are events, and begin at the server's time before its answer, and a reader takes an insert that the server still lists for one
   * that runs. The next insert does not wait for that.
   */
  #acknowledge(group: readonly Append[], receipts: readonly AppendReceipt[], seen: bigint): void {
    const events = receipts.reduce((sum, { eventCount }) => sum + eventCount, 0);
    this.#acknowledging = Promise.all([this.#acknowledging, events === 0 ? undefined : this.#untilSeen(events, seen)]).then(() => {
      for (const [index, { stored }] of group.entries()) {
        stored.resolve(receipts[index] as AppendReceipt);
      }
    });
  }

  /** Never rejects. */
  async #untilSeen(events: number, seen: bigint): Promise<void> {
    await delay(Math.ceil(events / 1_000));
    await this.#options.visibility.seesInserted(this.#writer, seen);
  }

  /** Stores a group. Gives its receipts, and the time of the store that its events are not before. */
  async #insert(group: readonly Append[]): Promise<{ readonly receipts: readonly AppendReceipt[]; readonly seen: bigint }> {
    const { clock, deadLetters, sourceOffsets, now } = this.#options;
    const batch = mergeBatches(group.map((append) => append.batch));
    const file = batch.eventCount === 0 ? undefined : batchFileOf(batch.fields, batch.eventCount, 0n, batch.logs);
    // The feed waits from this time on for the insert, so that it is read when all else is done.
    const { time: seen } = await clock.read();
    if (file !== undefined) {
      await this.#insertEvents(file, batch.eventCount, seen);
    }
    const notKept = new Set(await deadLetters.add(batch.deadLetters, now()));
    await sourceOffsets.add(batch.sourceOffsets, seen);
    this.#expiredEvents += batch.expiredCount;
    let lettersBefore = 0;
    const receipts = group.map(({ batch: { eventCount, deadLetters: letters } }) => {
      const deadLettersNotKept = letters.map((_, index) => index).filter((index) => notKept.has(lettersBefore + index));
      lettersBefore += letters.length;
      return { eventCount, duplicates: null, deadLettersNotKept };
    });
    return { receipts, seen };
  }

  async #insertEvents(file: readonly Uint8Array[], eventCount: number, seen: bigint): Promise<void> {
    const { client, database, table } = this.#options;
    const statement = insertEventsStatement(table, LOG_COLUMN, { writer: this.#writer, storeId: await client.storeId(), seen });
    await client.insert(statement, { data: file, rows: eventCount }, { log_comment: insertComment(database, this.#writer, seen) });
    this.#storedEvents += eventCount;
  }
}

function failureOf(error: unknown, group: readonly Append[]): StoreError {
  if (error instanceof StoreError && error.code !== 'overloaded') {
    return error;
  }
  const events = group.reduce((sum, { batch }) => sum + batch.eventCount, 0);
  return new StoreError('append_failed', `a batch of ${events} events could not be stored: ${(error as Error).message}`, { cause: error });
}

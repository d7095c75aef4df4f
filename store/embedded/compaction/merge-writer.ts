import { isOutOfMemory, type StatementRunner } from '../duckdb/duckdb-engine.ts';
import { BackgroundThread } from '../runtime/background-thread.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import { type MergeOrder, writeMerged } from './merged-segments.ts';

/** Fewer events are merged where they are: a thread with a DuckDB of its own takes longer to start. */
const FEW_EVENTS = 20_000;

/** What the thread begins with. */
export interface MergeThreadOptions {
  /** Of its own DuckDB, beside what the store's may take. */
  readonly memoryLimitMb: number;
  /** Of its own. */
  readonly spillFolder: string;
  /** One number: not 0 once what is being written is to be given up. */
  readonly stop: Int32Array;
}

export interface MergeWriterOptions extends Omit<MergeThreadOptions, 'stop'> {
  /** Of the store's DuckDB. One merge at a time uses it. */
  readonly runner: StatementRunner;
}

/**
 * Writes the segments of merges: in the background by a thread of a low priority with a DuckDB of its own, since the threads of the store's
 * are those of searches.
 */
export class MergeWriter {
  readonly #runner: StatementRunner;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: BackgroundThread<MergeOrder, UnpublishedSegment[]>;

  constructor({ runner, memoryLimitMb, spillFolder }: MergeWriterOptions) {
    this.#runner = runner;
    const data: MergeThreadOptions = { memoryLimitMb, spillFolder, stop: this.#stop };
    this.#thread = new BackgroundThread(new URL('./merge-thread.ts', import.meta.url), data);
  }

  /** One order at a time. When this rejects, nothing of what was written is left. */
  async writeInBackground(order: MergeOrder): Promise<UnpublishedSegment[]> {
    if (order.events < FEW_EVENTS) {
      return await this.writeAtOnce(order);
    }
    try {
      return await this.#thread.run(order);
    } catch (error) {
      if (!isOutOfMemory(error)) {
        throw error;
      }
      // The store's DuckDB has more.
      return await this.writeAtOnce(order);
    }
  }

  /** The same for somebody who waits, with every core. */
  async writeAtOnce(order: MergeOrder): Promise<UnpublishedSegment[]> {
    return await writeMerged(order, this.#runner);
  }

  /** What is being written in the background is given up. */
  giveUp(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

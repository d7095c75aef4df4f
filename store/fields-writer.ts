import { Piscina } from 'piscina';
import type { StatementRunner } from './duckdb-engine.ts';
import { type FieldsOrder, type SealedFields, writeSealedFields } from './sealed-fields.ts';

/** Fewer events are written where they are: a thread with a DuckDB of its own takes longer to start. */
const FEW_EVENTS = 20_000;
const IDLE_MS = 60_000;

/** What the thread's own DuckDB is started with. */
export interface FieldsThreadOptions {
  readonly memoryLimitMb: number;
  readonly spillFolder: string;
}

export interface FieldsWriterOptions extends FieldsThreadOptions {
  /** For what is not written in the thread. One seal at a time uses it. */
  readonly runner: StatementRunner;
}

/**
 * Writes the fields of hot events into segments; those of many journals in a thread of its own with its own DuckDB, at a low priority. Statements of the store's DuckDB share its threads with searches, so
 * that one which is asked for beside a seal would take twice as long. The thread starts when there is much to write, and ends when there has been nothing for a minute.
 */
export class FieldsWriter {
  readonly #options: FieldsWriterOptions;
  #pool: Piscina<FieldsOrder, SealedFields> | undefined;

  constructor(options: FieldsWriterOptions) {
    this.#options = options;
  }

  /** One order at a time. When this rejects, nothing of what was written is left. */
  async write(order: FieldsOrder): Promise<SealedFields> {
    const { runner, memoryLimitMb, spillFolder } = this.#options;
    // A table is in the memory of the store's DuckDB.
    if (order.events < FEW_EVENTS || order.sources.some((source) => 'table' in source)) {
      return await writeSealedFields(order, runner);
    }
    const workerData: FieldsThreadOptions = { memoryLimitMb, spillFolder };
    this.#pool ??= new Piscina({
      filename: new URL('./fields-thread.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      workerData,
    });
    return await this.#pool.run(order);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }
}

import { BackgroundThread } from './background-thread.ts';
import type { EngineOptions, StatementRunner } from './duckdb-engine.ts';
import { type FieldsOrder, type SealedFields, writeSealedFields } from './sealed-fields.ts';

/** Fewer events are written where they are: a thread with a DuckDB of its own takes longer to start. */
const FEW_EVENTS = 20_000;

/** What the thread's own DuckDB is started with. */
export type FieldsThreadOptions = Omit<EngineOptions, 'threads'>;

/**
 * Writes the fields of hot events into segments; those of many journals in a thread of its own with its own DuckDB, at a low priority. Statements of the store's DuckDB share its threads with searches, so
 * that one which is asked for beside a seal would take twice as long.
 */
export class FieldsWriter {
  readonly #runner: StatementRunner;
  readonly #thread: BackgroundThread<FieldsOrder, SealedFields>;

  /** `runner` is for what is not written in the thread. One seal at a time uses it. */
  constructor(runner: StatementRunner, options: FieldsThreadOptions) {
    this.#runner = runner;
    this.#thread = new BackgroundThread(new URL('./fields-thread.ts', import.meta.url), options);
  }

  /** One order at a time. When this rejects, nothing of what was written is left. */
  async write(order: FieldsOrder): Promise<SealedFields> {
    // A table is in the memory of the store's DuckDB.
    if (order.events < FEW_EVENTS || order.sources.some((source) => 'table' in source)) {
      return await writeSealedFields(order, this.#runner);
    }
    return await this.#thread.run(order);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

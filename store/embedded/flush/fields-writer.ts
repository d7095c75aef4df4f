import type { StatementRunner } from '../duckdb/duckdb-engine.ts';
import { BackgroundThread } from '../runtime/background-thread.ts';
import type { JournalsOrder } from './flush-journals.ts';
import { type FieldsOrder, type FlushedFields, writeFlushedFields } from './flushed-fields.ts';

/** Fewer events are written where they are: a thread takes longer to start. */
const FEW_EVENTS = 20_000;

/**
 * Writes the fields of unflushed events into segments. Those of many journals are written by a kernel of the store's own, in a thread at a
 * low priority: statements of DuckDB take four times as long, and share its threads with searches.
 */
export class FieldsWriter {
  readonly #runner: StatementRunner;
  readonly #thread = new BackgroundThread<JournalsOrder, FlushedFields>(new URL('./fields-thread.ts', import.meta.url));

  /** `runner` is for what is not written in the thread. One flush at a time uses it. */
  constructor(runner: StatementRunner) {
    this.#runner = runner;
  }

  /** One order at a time. When this rejects, nothing of what was written is left. */
  async write(order: FieldsOrder): Promise<FlushedFields> {
    const { sources, endSequence: _, ...journals } = order;
    const paths = sources.flatMap((source) => ('path' in source ? [source.path] : []));
    // A table is in the memory of the store's DuckDB.
    if (order.events < FEW_EVENTS || paths.length < sources.length) {
      return await writeFlushedFields(order, this.#runner);
    }
    return await this.#thread.run({ ...journals, paths });
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}

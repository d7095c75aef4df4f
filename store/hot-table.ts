import type { HotSource } from '../sql/events-relation.ts';
import type { IngestTime } from './feed-ingest-times.ts';
import type { HotLogs } from './hot-logs.ts';
import { StoreError } from './store-error.ts';

/**
 * A table in memory. It either is a journal as it was read, or the rows of many small journals put together: those have a `seq` of their own,
 * since duplicates were left out.
 */
export interface HotTable extends HotSource {
  readonly events: number;
  /** Those of its events, and maybe others. */
  readonly zones: ReadonlySet<number>;
  readonly journalBytes: number;
  /** Of its journals; 0 before the first. */
  readonly lastSequence: bigint;
  /** Those that are in it, in their order. */
  readonly journals: readonly HotJournal[];
  /** Those of its events, and of others. */
  readonly logs: HotLogs;
}

/** A journal whose events are hot. */
export interface HotJournal extends IngestTime {
  /** No less than the texts and logs of its events. */
  readonly sizeBytes: number;
}

/** The packed log of an event of these tables. Throws `corrupt` where there is none. */
export function hotLogOf(tables: readonly Pick<HotTable, 'logs'>[], sequence: bigint): Buffer {
  const table = tables.find(({ logs }) => logs.has(sequence));
  if (table === undefined) {
    throw new StoreError('corrupt', `there is no log of the event ${sequence} in memory`);
  }
  return table.logs.at(sequence);
}

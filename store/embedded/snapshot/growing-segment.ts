import type { GrowingSource } from '../../../sql/events-relation.ts';
import { StoreError } from '../../store-error.ts';
import type { MemtableLogs } from '../blob/memtable-logs.ts';
import type { FileContent } from '../journal/journal.ts';
import type { IngestTime } from './ingest-times.ts';

/**
 * Searchable events that are in no segment yet: those of a journal whose file is searched by an alias, or those of small journals, copied
 * into a table in memory.
 */
export interface GrowingSegment {
  readonly source: GrowingSource;
  /** What the file of the source has to hold; absent for a table. */
  readonly content?: FileContent;
  readonly events: number;
  /** The zones of its events, and maybe others. */
  readonly zones: ReadonlySet<number>;
  /** Unix milliseconds of its first event. */
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
  readonly journalBytes: number;
  /** The last sequence of its journals; 0 before the first. */
  readonly lastSequence: bigint;
  /** The journals of its events, in their order. */
  readonly journals: readonly UnflushedJournal[];
  /** The logs of its events, and of others. */
  readonly logs: MemtableLogs;
}

/** A journal whose events are in no segment yet. */
export interface UnflushedJournal extends IngestTime {
  readonly number: number;
  /** At least the bytes of its events' texts and logs. */
  readonly sizeBytes: number;
}

export function sourcesOf(parts: readonly Pick<GrowingSegment, 'source'>[]): GrowingSource[] {
  return parts.map(({ source }) => source);
}

/** The packed log of an unflushed event. Throws `corrupt` where these parts have none. */
export function logOfGrowing(parts: readonly Pick<GrowingSegment, 'logs'>[], sequence: bigint): Buffer {
  for (const { logs } of parts) {
    const log = logs.at(sequence);
    if (log !== undefined) {
      return log;
    }
  }
  throw new StoreError('corrupt', `there is no log of the event ${sequence} in memory`);
}

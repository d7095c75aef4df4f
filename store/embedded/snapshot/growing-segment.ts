import type { GrowingSource } from '../../../sql/events-relation.ts';
import { StoreError } from '../../store-error.ts';
import type { MemtableLogs } from '../blob/memtable-logs.ts';
import type { IngestTime } from './feed-ingest-times.ts';

/**
 * Searchable events that are not in a segment yet: those of a journal whose file is searched by an alias, or those of small journals that
 * were copied into a table in memory.
 */
export interface GrowingSegment {
  readonly source: GrowingSource;
  readonly events: number;
  /** Those of its events, and maybe others. */
  readonly zones: ReadonlySet<number>;
  /** Of its events. */
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
  readonly journalBytes: number;
  /** Of its journals; 0 before the first. */
  readonly lastSequence: bigint;
  /** Those that are in it, in their order. */
  readonly journals: readonly UnflushedJournal[];
  /** Those of its events, and of others. */
  readonly logs: MemtableLogs;
}

/** A journal whose events are in no segment yet. */
export interface UnflushedJournal extends IngestTime {
  readonly number: number;
  /** No less than the texts and logs of its events. */
  readonly sizeBytes: number;
}

export function sourcesOf(parts: readonly Pick<GrowingSegment, 'source'>[]): GrowingSource[] {
  return parts.map(({ source }) => source);
}

/** The packed log of an event of these parts. Throws `corrupt` where there is none. */
export function logOfGrowing(parts: readonly Pick<GrowingSegment, 'logs'>[], sequence: bigint): Buffer {
  const part = parts.find(({ logs }) => logs.has(sequence));
  if (part === undefined) {
    throw new StoreError('corrupt', `there is no log of the event ${sequence} in memory`);
  }
  return part.logs.at(sequence);
}

import type { HotSource } from '../sql/events-relation.ts';
import type { IngestTime } from './feed-ingest-times.ts';
import type { HotLogs } from './hot-logs.ts';
import { StoreError } from './store-error.ts';

/** Events that are searchable and not sealed: a journal, whose file is searched by a link to it, or a table in memory into which small journals were copied. */
export interface HotPart {
  readonly source: HotSource;
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
  readonly journals: readonly HotJournal[];
  /** Those of its events, and of others. */
  readonly logs: HotLogs;
}

/** A journal whose events are hot. */
export interface HotJournal extends IngestTime {
  readonly number: number;
  /** No less than the texts and logs of its events. */
  readonly sizeBytes: number;
}

export function sourcesOf(parts: readonly Pick<HotPart, 'source'>[]): HotSource[] {
  return parts.map(({ source }) => source);
}

/** The packed log of an event of these parts. Throws `corrupt` where there is none. */
export function hotLogOf(parts: readonly Pick<HotPart, 'logs'>[], sequence: bigint): Buffer {
  const part = parts.find(({ logs }) => logs.has(sequence));
  if (part === undefined) {
    throw new StoreError('corrupt', `there is no log of the event ${sequence} in memory`);
  }
  return part.logs.at(sequence);
}

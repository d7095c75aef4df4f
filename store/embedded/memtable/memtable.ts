import type { GrowingSource } from '../../../sql/events-relation.ts';
import { VECTOR_COLUMN_BYTES, VECTOR_ROWS } from '../../../sql/segment-layout.ts';
import type { MemtableLogs } from '../blob/memtable-logs.ts';
import type { Journal } from '../journal/journal.ts';
import type { GrowingSegment, UnflushedJournal } from '../snapshot/growing-segment.ts';
import type { ArrivedEvents } from './duplicate-precheck.ts';

/** The growing segment that takes in small journals: a table in memory. */
export class GrowingTable implements GrowingSegment {
  readonly table: string;
  events = 0;
  readonly zones = new Set<number>();
  minTimestamp = Number.POSITIVE_INFINITY;
  maxTimestamp = Number.NEGATIVE_INFINITY;
  journalBytes = 0;
  lastSequence = 0n;
  readonly journals: UnflushedJournal[] = [];
  readonly logs: MemtableLogs;
  /** At least the bytes that any column has in the last vector. */
  #vectorBytes = 0;

  constructor(table: string, logs: MemtableLogs) {
    this.table = table;
    this.logs = logs;
  }

  get source(): GrowingSource {
    return { table: this.table };
  }

  /** Whether no vector of the table has too many bytes of a column once the events of the journal are in it. */
  hasRoomFor({ widestColumnBytes }: Journal): boolean {
    return this.#vectorBytes + widestColumnBytes <= VECTOR_COLUMN_BYTES;
  }

  /** Notes a journal of which `loaded` events were copied into the table. */
  add(journal: Journal, loaded: number, arrived: ArrivedEvents | undefined): void {
    const { number, firstSequence, eventCount, sizeBytes, ingestedAtMs, widestColumnBytes } = journal;
    const vector = Math.floor(this.events / VECTOR_ROWS);
    this.events += loaded;
    const goesOn = Math.floor(this.events / VECTOR_ROWS) === vector;
    this.#vectorBytes = (goesOn ? this.#vectorBytes : 0) + (loaded === 0 ? 0 : widestColumnBytes);
    this.journalBytes += sizeBytes;
    this.lastSequence = firstSequence + BigInt(eventCount) - 1n;
    this.journals.push({ number, firstSequence, atMs: ingestedAtMs, sizeBytes });
    if (arrived !== undefined) {
      this.minTimestamp = Math.min(this.minTimestamp, arrived.minTimestamp);
      this.maxTimestamp = Math.max(this.maxTimestamp, arrived.maxTimestamp);
      for (const zone of arrived.zones) {
        this.zones.add(zone);
      }
    }
  }
}

/** The growing segments that are flushed together, and their journals. */
export class Memtable {
  readonly openedAtMs: number;
  readonly table: GrowingTable;
  readonly parts: GrowingSegment[];
  readonly journals: Journal[] = [];
  /** The bytes of all its journals, also of those whose files were removed: their logs are in memory until the flush. */
  receivedBytes = 0;

  constructor(table: GrowingTable, openedAtMs: number) {
    this.table = table;
    this.parts = [table];
    this.openedAtMs = openedAtMs;
  }

  get events(): number {
    return this.parts.reduce((sum, { events }) => sum + events, 0);
  }

  get journalBytes(): number {
    return this.parts.reduce((sum, { journalBytes }) => sum + journalBytes, 0);
  }
}

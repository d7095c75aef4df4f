import type { HotSource } from '../sql/events-relation.ts';
import type { ArrivedEvents } from './duplicate-check.ts';
import type { HotLogs } from './hot-logs.ts';
import type { HotJournal, HotPart } from './hot-part.ts';
import type { Journal } from './journal.ts';

/** A table that takes in small journals. */
export class CollectingTable implements HotPart {
  readonly table: string;
  events = 0;
  readonly zones = new Set<number>();
  minTimestamp = Number.POSITIVE_INFINITY;
  maxTimestamp = Number.NEGATIVE_INFINITY;
  journalBytes = 0;
  lastSequence = 0n;
  readonly journals: HotJournal[] = [];
  readonly logs: HotLogs;

  constructor(table: string, logs: HotLogs) {
    this.table = table;
    this.logs = logs;
  }

  get source(): HotSource {
    return { table: this.table };
  }

  /** Takes note of a journal, so many events of which were copied into the table. */
  add({ number, firstSequence, eventCount, sizeBytes, ingestedAtMs }: Journal, loaded: number, arrived: ArrivedEvents | undefined): void {
    this.events += loaded;
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

/** The hot parts that are sealed together, and the journals that are in them. */
export class HotGeneration {
  readonly openedAtMs: number;
  readonly collecting: CollectingTable;
  readonly parts: HotPart[];
  readonly journals: Journal[] = [];

  constructor(collecting: CollectingTable, openedAtMs: number) {
    this.collecting = collecting;
    this.parts = [collecting];
    this.openedAtMs = openedAtMs;
  }

  get events(): number {
    return this.parts.reduce((sum, { events }) => sum + events, 0);
  }

  get journalBytes(): number {
    return this.parts.reduce((sum, { journalBytes }) => sum + journalBytes, 0);
  }
}

import type { HotLogs } from './hot-logs.ts';
import type { HotJournal, HotTable } from './hot-table.ts';
import type { Journal } from './journal.ts';

/** A hot table that takes in small batches. */
export class CollectingTable implements HotTable {
  readonly name: string;
  readonly firstSequence = null;
  events = 0;
  readonly zones = new Set<number>();
  journalBytes = 0;
  lastSequence = 0n;
  readonly journals: HotJournal[] = [];
  readonly logs: HotLogs;

  constructor(name: string, logs: HotLogs) {
    this.name = name;
    this.logs = logs;
  }
}

/** The hot tables that are sealed together, and the journals that are in them. */
export class HotGeneration {
  readonly openedAtMs: number;
  readonly collecting: CollectingTable;
  readonly tables: HotTable[];
  readonly journals: Journal[] = [];

  constructor(collecting: CollectingTable, openedAtMs: number) {
    this.collecting = collecting;
    this.tables = [collecting];
    this.openedAtMs = openedAtMs;
  }

  get events(): number {
    return this.tables.reduce((sum, { events }) => sum + events, 0);
  }

  get journalBytes(): number {
    return this.tables.reduce((sum, { journalBytes }) => sum + journalBytes, 0);
  }
}

import type { DuckDBConnection } from '@duckdb/node-api';
import { createHotTableStatement } from '../sql/storage-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import type { Journal } from './journal.ts';

/** An in-memory table that takes in batches until it is closed and sealed. */
export interface HotTable {
  readonly name: string;
  readonly openedAtMs: number;
  readonly journals: readonly Journal[];
  readonly events: number;
  readonly journalBytes: number;
}

/** The side of a hot table that only the loader sees. */
export class OpenHotTable implements HotTable {
  readonly name: string;
  readonly openedAtMs: number;
  readonly journals: Journal[] = [];
  events = 0;
  journalBytes = 0;

  private constructor(name: string, openedAtMs: number) {
    this.name = name;
    this.openedAtMs = openedAtMs;
  }

  static async create(connection: DuckDBConnection, number: number, openedAtMs: number): Promise<OpenHotTable> {
    const table = new OpenHotTable(`hot_${number}`, openedAtMs);
    await runStatement(connection, createHotTableStatement(table.name));
    return table;
  }

  received(journal: Journal, events: number): void {
    this.journals.push(journal);
    this.events += events;
    this.journalBytes += journal.sizeBytes;
  }
}

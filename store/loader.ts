import type { DuckDBConnection } from '@duckdb/node-api';
import { type AppendPlace, placeAfter } from './append-pipeline.ts';
import type { CatalogProgress } from './catalog.ts';
import type { DeadLetter } from './event-store.ts';
import { type HotTable, OpenHotTable } from './hot-table.ts';
import type { Journal } from './journal.ts';
import { loadJournal } from './journal-loader.ts';
import type { LiveSet } from './live-set.ts';
import type { PositionTable } from './position-table.ts';
import type { StoreCounters } from './store-counters.ts';

/**
 * A hot table is closed once it holds this many events, or bytes of journal, or is this old. One is open and two wait to be sealed while a third is
 * sorted: together they must fit into the smaller memory limits, because a table that spills costs several times as much.
 */
const CLOSE_AT_EVENTS = 100_000;
const CLOSE_AT_BYTES = 128 * 1024 * 1024;
const CLOSE_AT_AGE_MS = 5 * 60_000;

/** A hot table that takes in no more, and how far the store had come when it was closed. */
export interface ClosedHotTable {
  readonly table: HotTable;
  readonly progress: CatalogProgress;
}

export interface LoaderOptions {
  readonly connection: DuckDBConnection;
  readonly segmentsFolder: string;
  readonly live: LiveSet;
  readonly positions: PositionTable;
  readonly counters: StoreCounters;
  readonly now: () => number;
  readonly keepUnreadable: (letters: readonly DeadLetter[]) => void;
  readonly onClosed: (closed: ClosedHotTable) => void;
  /** Resolves when another hot table may be closed: tables wait in memory until they are sealed. */
  readonly roomToClose: () => Promise<void>;
}

/** Brings journals into the open hot table, one at a time, and opens a new table when that one is full. */
export class Loader {
  readonly #options: LoaderOptions;
  #hot: OpenHotTable;
  #tablesOpened = 1;
  #end: AppendPlace;

  private constructor(options: LoaderOptions, hot: OpenHotTable, start: AppendPlace) {
    this.#options = options;
    this.#hot = hot;
    this.#end = start;
  }

  static async start(options: LoaderOptions, start: AppendPlace): Promise<Loader> {
    const hot = await OpenHotTable.create(options.connection, 1, options.now());
    options.live.exchange({ addHot: hot });
    return new Loader(options, hot, start);
  }

  get end(): AppendPlace {
    return this.#end;
  }

  /** What can fail comes first: when this rejects, nothing of the journal is searchable and no position has moved. */
  async load(journal: Journal): Promise<void> {
    const { connection, segmentsFolder, live, positions, counters, keepUnreadable } = this.#options;
    if (this.#isFull()) {
      await this.close();
    }
    const known = live.snapshot();
    try {
      const { loaded, duplicates } = await loadJournal(connection, journal, { hotTable: this.#hot, known, segmentsFolder, keepUnreadable });
      this.#hot.received(journal, loaded);
      counters.duplicateEvents += duplicates;
    } finally {
      known.release();
    }
    counters.expiredEvents += journal.expiredCount;
    positions.move(journal.positions);
    this.#end = placeAfter(journal);
    live.advance(this.#end.sequence);
  }

  async closeIfOld(): Promise<void> {
    if (this.#options.now() - this.#hot.openedAtMs >= CLOSE_AT_AGE_MS) {
      await this.close();
    }
  }

  /** Hands the open hot table over for sealing and opens another. */
  async close(): Promise<void> {
    const { connection, live, positions, counters, now, onClosed, roomToClose } = this.#options;
    if (this.#hot.journals.length === 0) {
      return;
    }
    await roomToClose();
    const next = await OpenHotTable.create(connection, this.#tablesOpened + 1, now());
    this.#tablesOpened += 1;
    const table = this.#hot;
    this.#hot = next;
    live.exchange({ addHot: next });
    onClosed({
      table,
      progress: {
        sealedJournal: this.#end.journal - 1,
        nextSequence: this.#end.sequence,
        positions: positions.list(),
        ...counters,
      },
    });
  }

  #isFull(): boolean {
    return this.#hot.events >= CLOSE_AT_EVENTS || this.#hot.journalBytes >= CLOSE_AT_BYTES;
  }
}

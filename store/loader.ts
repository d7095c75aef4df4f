import type { DuckDBConnection } from '@duckdb/node-api';
import { createHotTableStatement } from '../sql/journal-statements.ts';
import { type AppendPlace, placeAfter } from './append-place.ts';
import type { CatalogProgress } from './catalog.ts';
import { runStatement } from './duckdb-engine.ts';
import type { DeadLetter } from './event-store.ts';
import { CollectingTable, HotGeneration } from './hot-generation.ts';
import { HotLogs } from './hot-logs.ts';
import type { Journal } from './journal.ts';
import { loadJournal } from './journal-loader.ts';
import type { LiveSet } from './live-set.ts';
import type { LogMemory } from './log-memory.ts';
import type { PositionTable } from './position-table.ts';
import type { StoreCounters } from './store-counters.ts';

/**
 * Hot tables are closed together once they hold this many events, or bytes of journal, or are this old. One set is open and two wait to be sealed while a third is
 * sorted: together they must fit into the smaller memory limits, because a table that spills costs several times as much.
 */
const CLOSE_AT_EVENTS = 100_000;
const CLOSE_AT_BYTES = 128 * 1024 * 1024;
const CLOSE_AT_AGE_MS = 5 * 60_000;

/** Hot tables that take in no more, and how far the store had come when they were closed. */
export interface ClosedGeneration {
  readonly generation: HotGeneration;
  readonly progress: CatalogProgress;
}

export interface LoaderOptions {
  readonly connection: DuckDBConnection;
  readonly segmentsFolder: string;
  readonly logMemory: LogMemory;
  readonly live: LiveSet;
  readonly positions: PositionTable;
  readonly counters: StoreCounters;
  readonly now: () => number;
  readonly keepUnreadable: (letters: readonly DeadLetter[]) => void;
  readonly onClosed: (closed: ClosedGeneration) => void;
  /** Called before a journal with so many events is loaded. */
  readonly onLoad: (events: number) => void;
  /** Resolves when hot tables may be closed: they wait in memory until they are sealed. */
  readonly roomToClose: () => Promise<void>;
}

/** Brings journals into hot tables, one at a time, and starts over with new tables when those are full. */
export class Loader {
  readonly #options: LoaderOptions;
  #open: HotGeneration;
  #generations = 1;
  #end: AppendPlace;

  private constructor(options: LoaderOptions, open: HotGeneration, start: AppendPlace) {
    this.#options = options;
    this.#open = open;
    this.#end = start;
  }

  static async start(options: LoaderOptions, start: AppendPlace): Promise<Loader> {
    const open = await openGeneration(options, 1);
    return new Loader(options, open, start);
  }

  /** Behind the last journal that was loaded. */
  get end(): AppendPlace {
    return this.#end;
  }

  /**
   * Loads a journal with its logs, newline-terminated. What can fail comes first: when this rejects, nothing of the journal is searchable and no position
   * has moved.
   */
  async load(journal: Journal, logs: readonly Uint8Array[]): Promise<void> {
    const { connection, segmentsFolder, live, positions, counters, keepUnreadable, onLoad } = this.#options;
    onLoad(journal.eventCount);
    if (this.#isFull()) {
      await this.close();
    }
    const { collecting, tables, journals } = this.#open;
    const known = live.snapshot();
    let zones: readonly number[];
    collecting.logs.append(journal.firstSequence, logs);
    try {
      const { loaded, duplicates, table, ...outcome } = await loadJournal(connection, journal, {
        collecting,
        known,
        segmentsFolder,
        keepUnreadable,
      });
      if (table === undefined) {
        collecting.events += loaded;
        for (const zone of outcome.zones) {
          collecting.zones.add(zone);
        }
        collecting.journalBytes += journal.sizeBytes;
        collecting.lastSequence = journal.firstSequence + BigInt(journal.eventCount) - 1n;
        collecting.journals.push({ firstSequence: journal.firstSequence, atMs: journal.ingestedAtMs, sizeBytes: journal.sizeBytes });
      } else {
        tables.push(table);
        table.logs.hold();
        live.exchange({ addHot: table });
      }
      counters.duplicateEvents += duplicates;
      zones = outcome.zones;
    } catch (error) {
      collecting.logs.truncate(journal.firstSequence);
      throw error;
    } finally {
      known.release();
    }
    journals.push(journal);
    counters.expiredEvents += journal.expiredCount;
    positions.move(journal.positions);
    this.#end = placeAfter(journal);
    live.advance(this.#end.sequence, zones);
  }

  async closeIfOld(): Promise<void> {
    if (this.#options.now() - this.#open.openedAtMs >= CLOSE_AT_AGE_MS) {
      await this.close();
    }
  }

  /** Hands the open hot tables over for sealing and opens others. */
  async close(): Promise<void> {
    const { positions, counters, onClosed, roomToClose } = this.#options;
    if (this.#open.journals.length === 0) {
      return;
    }
    await roomToClose();
    const next = await openGeneration(this.#options, this.#generations + 1);
    this.#generations += 1;
    const generation = this.#open;
    this.#open = next;
    const { journal, sequence } = this.#end;
    const progress = { sealedJournal: journal - 1, nextSequence: sequence, positions: positions.list(), ...counters };
    onClosed({ generation, progress });
  }

  #isFull(): boolean {
    return this.#open.events >= CLOSE_AT_EVENTS || this.#open.journalBytes >= CLOSE_AT_BYTES;
  }
}

async function openGeneration({ connection, live, logMemory, now }: LoaderOptions, number: number): Promise<HotGeneration> {
  const collecting = new CollectingTable(`collecting_${number}`, new HotLogs(logMemory));
  await runStatement(connection, createHotTableStatement(collecting.name));
  collecting.logs.hold();
  live.exchange({ addHot: collecting });
  return new HotGeneration(collecting, now());
}

import type { DuckDBConnection } from '@duckdb/node-api';
import { createHotTableStatement } from '../sql/journal-statements.ts';
import { type AppendPlace, placeAfter } from './append-place.ts';
import type { CatalogProgress } from './catalog.ts';
import { runStatement } from './duckdb-engine.ts';
import { DuplicateCheck } from './duplicate-check.ts';
import { CollectingTable, HotGeneration } from './hot-generation.ts';
import { HotLogs } from './hot-logs.ts';
import type { Journal } from './journal.ts';
import { loadJournal } from './journal-loader.ts';
import type { LogMemory } from './log-memory.ts';
import type { PathAliases } from './path-aliases.ts';
import type { PositionTable } from './position-table.ts';
import type { StoreCounters } from './store-counters.ts';
import type { VersionSet } from './version-set.ts';

/**
 * Hot parts are closed together once they hold this many events, or bytes of journal, or are this old. They are sorted together when they are sealed, which must fit into the smaller memory limits, because a sort
 * that spills costs several times as much.
 */
const CLOSE_AT_EVENTS = 100_000;
const CLOSE_AT_BYTES = 128 * 1024 * 1024;
const CLOSE_AT_AGE_MS = 5 * 60_000;

/** Hot parts that take in no more, and how far the store had come when they were closed. */
export interface ClosedGeneration {
  readonly generation: HotGeneration;
  readonly progress: CatalogProgress;
}

export interface LoaderOptions {
  readonly connection: DuckDBConnection;
  readonly aliases: PathAliases;
  readonly logMemory: LogMemory;
  readonly live: VersionSet;
  readonly positions: PositionTable;
  readonly counters: StoreCounters;
  readonly mostKnownEvents: number;
  readonly now: () => number;
  /** Removes the files of a journal none of whose events is new. */
  readonly dropFiles: (journal: Journal) => Promise<Journal>;
  readonly onClosed: (closed: ClosedGeneration) => void;
  /** Called before a journal with so many events is loaded. */
  readonly onLoad: (events: number) => void;
  /** Resolves when hot parts may be closed: their logs wait in memory until they are sealed. */
  readonly roomToClose: () => Promise<void>;
}

/** Makes journals searchable, one at a time, and starts over with new hot parts when there is enough in those to be sealed. */
export class Loader {
  readonly #options: LoaderOptions;
  readonly #duplicates: DuplicateCheck;
  #open: HotGeneration;
  #generations = 1;
  #end: AppendPlace;

  private constructor(options: LoaderOptions, open: HotGeneration, start: AppendPlace) {
    this.#options = options;
    this.#duplicates = new DuplicateCheck(options);
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
   * has moved. Resolves with the sequences of the events that were not stored yet, or undefined where that is all of them.
   */
  async load(written: Journal, logs: readonly Uint8Array[]): Promise<Float64Array | undefined> {
    const { connection, aliases, live, positions, counters, onLoad } = this.#options;
    let journal = written;
    onLoad(journal.eventCount);
    if (this.#isFull()) {
      await this.close();
    }
    const { collecting, parts, journals } = this.#open;
    const known = live.snapshot();
    let zones: readonly number[] = [];
    let newSequences: Float64Array | undefined;
    collecting.logs.append(journal.firstSequence, logs);
    try {
      const target = { collecting, known, aliases, duplicates: this.#duplicates };
      const { loaded, sequences, part, arrived } = await loadJournal(connection, journal, target);
      newSequences = sequences;
      if (loaded === 0 && journal.hasFiles && journal.positions.length === 0) {
        journal = await this.#options.dropFiles(journal);
      }
      if (part === undefined) {
        // Its logs are in memory until the generation is closed, whether it has files or not.
        collecting.add({ ...journal, sizeBytes: written.sizeBytes }, loaded, arrived);
      } else {
        parts.push(part);
        part.logs.acquire();
        live.exchange({ addHot: part });
      }
      if (arrived !== undefined) {
        zones = arrived.zones;
      }
      counters.duplicateEvents += journal.eventCount - loaded;
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
    return newSequences;
  }

  async closeIfOld(): Promise<void> {
    if (this.#options.now() - this.#open.openedAtMs >= CLOSE_AT_AGE_MS) {
      await this.close();
    }
  }

  /** Hands the open hot parts over for sealing and opens others. */
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
  await runStatement(connection, createHotTableStatement(collecting.table));
  collecting.logs.acquire();
  live.exchange({ addHot: collecting });
  return new HotGeneration(collecting, now());
}

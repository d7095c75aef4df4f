import type { DuckDBConnection } from '@duckdb/node-api';
import { createMemtableStatement } from '../../../sql/journal-statements.ts';
import type { LogMemory } from '../blob/log-memory.ts';
import { MemtableLogs } from '../blob/memtable-logs.ts';
import type { CatalogProgress } from '../catalog/catalog.ts';
import type { SourceOffsetTable } from '../catalog/source-offset-table.ts';
import type { StoreCounters } from '../catalog/store-counters.ts';
import { runStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { Journal } from '../journal/journal.ts';
import { endAfter, type JournalEnd } from '../journal/journal-end.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { DuplicateCheck } from './duplicate-check.ts';
import { loadJournal } from './journal-loader.ts';
import { GrowingTable, Memtable } from './memtable.ts';

/**
 * A memtable is closed once it has this many events, or has taken in this many bytes, or is this old. Its events are sorted when it is
 * flushed, which must fit into the smaller memory limits, because a sort that spills costs several times as much.
 */
const CLOSE_AT_EVENTS = 100_000;
const CLOSE_AT_BYTES = 128 * 1024 * 1024;
const CLOSE_AT_AGE_MS = 5 * 60_000;

/** A memtable that takes in no more, and how far the store had come when it was closed. */
export interface ImmutableMemtable {
  readonly memtable: Memtable;
  readonly progress: CatalogProgress;
}

export interface LoaderOptions {
  readonly connection: DuckDBConnection;
  readonly aliases: PathAliases;
  readonly logMemory: LogMemory;
  readonly versions: VersionSet;
  readonly sourceOffsets: SourceOffsetTable;
  readonly counters: StoreCounters;
  readonly maxDedupEvents: number;
  readonly now: () => number;
  /** Removes the files of a journal none of whose events is new. */
  readonly dropFiles: (journal: Journal) => Promise<Journal>;
  readonly onClosed: (closed: ImmutableMemtable) => void;
  /** Called before a journal with so many events is loaded. */
  readonly onLoad: (events: number) => void;
  /** Resolves when the memtable may be closed: its logs wait in memory until it is flushed. */
  readonly roomToClose: () => Promise<void>;
}

/** Makes journals searchable, one at a time, and begins a new memtable when this one has enough events to be flushed. */
export class Loader {
  readonly #options: LoaderOptions;
  readonly #duplicates: DuplicateCheck;
  #open: Memtable;
  #memtables = 1;
  #end: JournalEnd;

  private constructor(options: LoaderOptions, open: Memtable, start: JournalEnd) {
    this.#options = options;
    this.#duplicates = new DuplicateCheck(options);
    this.#open = open;
    this.#end = start;
  }

  static async start(options: LoaderOptions, start: JournalEnd): Promise<Loader> {
    const open = await openMemtable(options, 1);
    return new Loader(options, open, start);
  }

  /** Behind the last journal that was loaded. */
  get end(): JournalEnd {
    return this.#end;
  }

  /**
   * Loads a journal with its logs, newline-terminated. What can fail comes first: when this rejects, nothing of the journal is searchable
   * and no source offset has moved. Resolves with the sequences of the events that were not stored yet, or undefined where that is all of
   * them.
   */
  async load(written: Journal, logs: readonly Uint8Array[]): Promise<Float64Array | undefined> {
    const { connection, aliases, versions, sourceOffsets, counters, onLoad } = this.#options;
    let journal = written;
    onLoad(journal.eventCount);
    if (this.#isFull()) {
      await this.close();
    }
    const memtable = this.#open;
    const { table, parts, journals } = memtable;
    const known = versions.snapshot();
    let zones: readonly number[] = [];
    let newSequences: Float64Array | undefined;
    table.logs.append(journal.firstSequence, logs);
    try {
      const target = { table, known, aliases, duplicates: this.#duplicates };
      const { loaded, sequences, part, arrived } = await loadJournal(connection, journal, target);
      newSequences = sequences;
      if (loaded === 0 && journal.hasFiles && journal.sourceOffsets.length === 0) {
        journal = await this.#options.dropFiles(journal);
      }
      if (part === undefined) {
        table.add(journal, loaded, arrived);
      } else {
        parts.push(part);
        part.logs.acquire();
        versions.exchange({ addGrowing: part });
      }
      if (arrived !== undefined) {
        zones = arrived.zones;
      }
      counters.duplicateEvents += journal.eventCount - loaded;
    } catch (error) {
      table.logs.truncate(journal.firstSequence);
      throw error;
    } finally {
      known.release();
    }
    journals.push(journal);
    memtable.receivedBytes += written.sizeBytes;
    counters.expiredEvents += journal.expiredCount;
    sourceOffsets.move(journal.sourceOffsets);
    this.#end = endAfter(journal);
    versions.advance(this.#end.sequence, zones);
    return newSequences;
  }

  async closeIfOld(): Promise<void> {
    if (this.#options.now() - this.#open.openedAtMs >= CLOSE_AT_AGE_MS) {
      await this.close();
    }
  }

  /** Hands the memtable over for flushing and opens another one. */
  async close(): Promise<void> {
    const { sourceOffsets, counters, onClosed, roomToClose } = this.#options;
    if (this.#open.journals.length === 0) {
      return;
    }
    await roomToClose();
    const next = await openMemtable(this.#options, this.#memtables + 1);
    this.#memtables += 1;
    const memtable = this.#open;
    this.#open = next;
    const { journal, sequence } = this.#end;
    const progress = { flushedJournal: journal - 1, nextSequence: sequence, sourceOffsets: sourceOffsets.list(), ...counters };
    onClosed({ memtable, progress });
  }

  #isFull(): boolean {
    return this.#open.events >= CLOSE_AT_EVENTS || this.#open.receivedBytes >= CLOSE_AT_BYTES;
  }
}

async function openMemtable({ connection, versions, logMemory, now }: LoaderOptions, number: number): Promise<Memtable> {
  const table = new GrowingTable(`memtable_${number}`, new MemtableLogs(logMemory));
  await runStatement(connection, createMemtableStatement(table.table));
  table.logs.acquire();
  versions.exchange({ addGrowing: table });
  return new Memtable(table, now());
}

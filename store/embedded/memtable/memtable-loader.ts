import { createMemtableStatement } from '../../../sql/memtable-statements.ts';
import { type LogMemory, MemtableLogs } from '../blob/memtable-logs.ts';
import type { CatalogProgress, StoreCounters } from '../catalog/catalog.ts';
import type { StoredOffsets } from '../catalog/stored-offsets.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { ThreadPolicy } from '../duckdb/thread-policy.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { endAfter, type Journal, type JournalEnd } from '../journal/journal.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { DuplicatePrecheck } from './duplicate-precheck.ts';
import { type LoadOutcome, loadJournal } from './journal-loader.ts';
import { GrowingTable, Memtable } from './memtable.ts';

/**
 * A memtable is closed at this many events, this many received bytes, logs that take so much memory, or this age. Its flush sorts the
 * events, which must fit into small memory limits: a sort that spills costs several times as much.
 */
const CLOSE_AT_EVENTS = 100_000;
const CLOSE_AT_BYTES = 128 * 1024 * 1024;
/** More than the logs of so many usual events. DuckDB has the fields, and may spill them. */
export const CLOSE_AT_LOG_BYTES = 60 * 1024 * 1024;
const CLOSE_AT_AGE_MS = 5 * 60_000;

/** A memtable that takes in no more journals, and the progress of the store when it was closed. */
export interface ImmutableMemtable {
  readonly memtable: Memtable;
  readonly progress: CatalogProgress;
}

/** Takes closed memtables. Their logs stay in memory until they are flushed. */
export interface FlushQueue {
  /** Resolves when another memtable may be closed. */
  room(): Promise<void>;
  enqueue(closed: ImmutableMemtable): void;
}

export interface LoaderOptions {
  readonly runner: StatementRunner;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly logMemory: LogMemory;
  readonly versions: VersionSet;
  readonly sourceOffsets: StoredOffsets;
  readonly counters: StoreCounters;
  readonly maxDedupEvents: number;
  readonly now: () => number;
  readonly threads: Pick<ThreadPolicy, 'load'>;
  readonly journals: Pick<JournalFolder, 'dropFiles'>;
  readonly flusher: FlushQueue;
}

/** Makes journals searchable, one at a time, and opens a new memtable when the current one is full. */
export class Loader {
  readonly #options: LoaderOptions;
  readonly #duplicates: DuplicatePrecheck;
  #open: Memtable;
  #memtables = 1;
  #end: JournalEnd;

  private constructor(options: LoaderOptions, open: Memtable, start: JournalEnd) {
    this.#options = options;
    this.#duplicates = new DuplicatePrecheck(options);
    this.#open = open;
    this.#end = start;
  }

  static async start(options: LoaderOptions, start: JournalEnd): Promise<Loader> {
    const open = await openMemtable(options, 1);
    return new Loader(options, open, start);
  }

  /** The end of the journals that are loaded. */
  get end(): JournalEnd {
    return this.#end;
  }

  /**
   * Loads a journal with its newline-terminated logs. Resolves with the sequences of the events that were not stored before, or undefined
   * where that is all of them. When this rejects, nothing of the journal is searchable and no source offset has moved.
   */
  async load(written: Journal, logs: readonly Uint8Array[]): Promise<Float64Array | undefined> {
    const { runner, aliases, checks, versions, sourceOffsets, counters, threads } = this.#options;
    let journal = written;
    threads.load(journal.eventCount);
    if (this.#isFull()) {
      await this.close();
    }
    const memtable = this.#open;
    const { table, parts, journals } = memtable;
    let outcome: LoadOutcome;
    table.logs.append(journal.firstSequence, logs);
    try {
      using stored = versions.snapshot();
      const openTable = () => openGrowingTable(runner, `${table.table}_${memtable.parts.length}`, table.logs);
      outcome = await loadJournal(runner, journal, { table, openTable, stored, aliases, checks, duplicates: this.#duplicates });
      const { loaded, part, arrived } = outcome;
      if (loaded === 0 && journal.hasFiles && journal.sourceOffsets.length === 0) {
        journal = await this.#options.journals.dropFiles(journal);
      }
      if (part === undefined) {
        table.add(journal, loaded, arrived);
      } else {
        parts.push(part);
        part.logs.references.acquire();
        versions.exchange({ addGrowing: part });
      }
      counters.duplicateEvents += journal.eventCount - loaded;
    } catch (error) {
      table.logs.truncate(journal.firstSequence);
      throw error;
    }
    journals.push(journal);
    memtable.receivedBytes += written.sizeBytes;
    counters.expiredEvents += journal.expiredCount;
    sourceOffsets.move(journal.sourceOffsets);
    this.#end = endAfter(journal);
    versions.advance(this.#end.sequence, outcome.arrived?.zones ?? []);
    return outcome.sequences;
  }

  async closeIfOld(): Promise<void> {
    if (this.#options.now() - this.#open.openedAtMs >= CLOSE_AT_AGE_MS) {
      await this.close();
    }
  }

  /** Hands the memtable over to the flusher and opens another one. */
  async close(): Promise<void> {
    const { sourceOffsets, counters, flusher } = this.#options;
    if (this.#open.journals.length === 0) {
      return;
    }
    await flusher.room();
    const next = await openMemtable(this.#options, this.#memtables + 1);
    this.#memtables += 1;
    const memtable = this.#open;
    this.#open = next;
    const { journal, sequence } = this.#end;
    const progress = { flushedJournal: journal - 1, nextSequence: sequence, sourceOffsets: sourceOffsets.list(), ...counters };
    flusher.enqueue({ memtable, progress });
  }

  #isFull(): boolean {
    const { events, receivedBytes, table } = this.#open;
    return events >= CLOSE_AT_EVENTS || receivedBytes >= CLOSE_AT_BYTES || table.logs.bytes >= CLOSE_AT_LOG_BYTES;
  }
}

async function openMemtable({ runner, versions, logMemory, now }: LoaderOptions, number: number): Promise<Memtable> {
  const table = await openGrowingTable(runner, `memtable_${number}`, new MemtableLogs(logMemory));
  versions.exchange({ addGrowing: table });
  return new Memtable(table, now());
}

async function openGrowingTable(runner: StatementRunner, name: string, logs: MemtableLogs): Promise<GrowingTable> {
  await runner.run(createMemtableStatement(name));
  return new GrowingTable(name, logs);
}

import type { FeedPage, FeedRequest } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import { isOutOfMemory } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { Snapshot, VersionSet } from '../snapshot/version-set.ts';
import { type FeedReading, readFlushed, readGrowing } from './feed-events.ts';
import { type FeedBudget, type FlushedRange, nextFlushed } from './feed-plan.ts';
import { type FeedPiece, type FeedWindow, isUnderWay, PAGE_BYTES, readWindow } from './feed-window.ts';
import { FeedWindows } from './feed-windows.ts';

export interface FeedReaderOptions {
  readonly versions: VersionSet;
  readonly aliases: PathAliases;
  /** The feed's own: who reads everything is not to keep searches waiting. */
  readonly connections: ConnectionPool;
  readonly windowBudget: FeedBudget;
  /** Gives memory of DuckDB back that others can do without. */
  readonly evictAll: () => void;
}

type Zones = FeedRequest['zones'];

const PAGE_EVENTS = 8_192;

/** More than a blob file has, which is best read as a whole. */
const WINDOW_EVENTS = 120_000;
const MEBIBYTE = 1024 * 1024;

/** A window may hold an eighth of the memory limit, in addition to it, and at most 108 MiB, because more would save little reading. */
export function feedWindowBudget(memoryLimitMb: number): FeedBudget {
  return { events: WINDOW_EVENTS, bytes: Math.min(108, memoryLimitMb / 8) * MEBIBYTE };
}

/**
 * Reads the events of a store in the order of their sequence, the flushed ones before the unflushed ones.
 * Flushed events come from windows, or page by page where there is no room for another window.
 */
export class FeedReader {
  readonly #options: FeedReaderOptions;
  readonly #windows: FeedWindows;
  readonly #closing = new AbortController();

  constructor(options: FeedReaderOptions) {
    this.#options = options;
    this.#windows = new FeedWindows((range) => this.#makeWindow(range));
  }

  /** Rejects with `StoreError` (`overloaded`) where DuckDB has no memory for a page, or too many wait for theirs. */
  async read(request: FeedRequest, signal: AbortSignal): Promise<FeedPage> {
    try {
      return await this.#read(request, signal);
    } catch (error) {
      if (!isOutOfMemory(error)) {
        throw error;
      }
      this.#options.evictAll();
      throw new StoreError('overloaded', 'there is not enough memory for a page of the feed; try again later', { cause: error });
    }
  }

  /** Interrupts what is being prepared. */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason);
    await this.#windows.close();
  }

  async #read({ zones, afterSequence, limit }: FeedRequest, signal: AbortSignal): Promise<FeedPage> {
    signal.throwIfAborted();
    const wanted = zones === 'all' ? zones : [...new Set(zones)].sort((a, b) => a - b);
    let after = afterSequence;
    for (;;) {
      const last = this.#options.versions.endSequence - 1n;
      if (!this.#hasMore(wanted, after)) {
        return { lines: [], lastSequence: after > last ? after : last, more: false };
      }
      const { lines, lastSequence } = await this.#readPiece(wanted, after, limit, signal);
      if (lines.length > 0) {
        return { lines, lastSequence, more: this.#hasMore(wanted, lastSequence) };
      }
      after = lastSequence;
    }
  }

  #hasMore(zones: Zones, after: bigint): boolean {
    const { versions } = this.#options;
    return (zones === 'all' ? versions.endSequence - 1n : versions.zoneEnds.of(zones)) > after;
  }

  async #readPiece(zones: Zones, after: bigint, limit: number, signal: AbortSignal): Promise<FeedPiece> {
    const found = this.#windows.find(zones, after);
    const range = found === undefined ? this.#nextFlushed(zones, after) : undefined;
    const window = await (found ?? (range && this.#windows.open(range)));
    if (window !== undefined) {
      return this.#readWindow(window, zones, after, limit);
    }
    const budget = { events: Math.min(limit, PAGE_EVENTS), bytes: PAGE_BYTES };
    const page = await this.#withSnapshot(signal, (snapshot, reading) => {
      // What was unflushed may have been flushed while the connection was waited for.
      const flushed = range ?? this.#nextFlushed(zones, after, snapshot);
      return flushed === undefined
        ? readGrowing(snapshot, { zones, after, upTo: snapshot.endSequence - 1n }, budget, reading)
        : readFlushed(snapshot, flushed, budget, reading);
    });
    return readWindow(page, after, limit);
  }

  #readWindow(window: FeedWindow, zones: Zones, after: bigint, limit: number): FeedPiece {
    if (window.upTo <= after) {
      // It has less than was planned. The next look finds another one, or makes it.
      return { lines: [], lastSequence: after };
    }
    const piece = readWindow(window, after, limit);
    if (piece.lastSequence >= window.upTo) {
      this.#windows.done(zones, after);
    } else if (isUnderWay(window, piece.lastSequence)) {
      const next = this.#nextFlushed(zones, window.upTo);
      if (next !== undefined) {
        this.#windows.prepare(next);
      }
    }
    return piece;
  }

  #nextFlushed(
    zones: Zones,
    after: bigint,
    parts: Pick<Snapshot, 'segments' | 'blobFiles'> = this.#options.versions,
  ): FlushedRange | undefined {
    return nextFlushed(parts, zones, after, this.#options.windowBudget);
  }

  #makeWindow(range: FlushedRange): Promise<FeedWindow> {
    const { events, bytes } = this.#options.windowBudget;
    // What is too much for one window is read in equal parts, as far as can be told before.
    const fitting = Math.ceil(range.events / Math.ceil(range.bytes / bytes));
    const budget = { events: Math.max(1, Math.min(events, fitting)), bytes };
    return this.#withSnapshot(this.#closing.signal, (snapshot, reading) => readFlushed(snapshot, range, budget, reading));
  }

  async #withSnapshot<T>(signal: AbortSignal, read: (snapshot: Snapshot, reading: FeedReading) => Promise<T>): Promise<T> {
    const { versions, connections, aliases } = this.#options;
    return await connections.use(async (connection) => {
      const snapshot = versions.snapshot();
      try {
        return await read(snapshot, { aliases, connection, signal });
      } finally {
        snapshot.release();
      }
    }, signal);
  }
}

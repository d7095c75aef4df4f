import { mostLookedAt, type WantedEvents } from '../../../query/plan/wanted-events.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import type { FeedLine } from '../../event-store.ts';
import { distinctWanted, FeedExcerpts, type FeedPiece, PAGE_BYTES, PAGE_EVENTS } from '../../feed-excerpts.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { ScopeSource } from '../search/search-scope.ts';
import type { Snapshot, VersionSet } from '../snapshot/version-set.ts';
import { type FeedBudget, type FeedExcerpt, type FlushedRange, nextFlushed, readExcerpt, readFlushed, readGrowing } from './feed-events.ts';
import { retryWithLess } from './retry-with-less.ts';

export interface FeedPagesOptions {
  readonly versions: VersionSet;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  /** Connections of the feed's own, so that its readers keep no search waiting. */
  readonly connections: ConnectionPool;
  readonly excerptBudget: FeedBudget;
  /** Evicts what caches hold in DuckDB's memory. */
  readonly evictCaches: () => Promise<void>;
}

export interface PageRequest {
  readonly wanted: WantedEvents;
  /** Events of a higher sequence than this are read; 0 is before the first. */
  readonly afterSequence: bigint;
  readonly limit: number;
}

/** A page of the feed by its sequences. */
export interface SequencePage {
  readonly lines: readonly FeedLine[];
  /** All wanted events up to this sequence are in this page or before it. */
  readonly lastSequence: bigint;
  readonly more: boolean;
  readonly lookedAt: number;
}

const OUT_OF_MEMORY = 'there is not enough memory for a page of the feed; try again later';

/** The most events of an excerpt: more than a blob file has, which is best read as a whole. */
export const EXCERPT_EVENTS = 120_000;

/**
 * Reads the events of a store page by page in the order of their sequence, the flushed ones before the unflushed ones. Flushed events come
 * from excerpts, or are read for each page where there is no room for another excerpt.
 */
export class FeedPages {
  readonly #options: FeedPagesOptions;
  readonly #excerpts: FeedExcerpts<FlushedRange, FeedExcerpt>;
  readonly #turns = new MainThreadTurns();
  readonly #closing = new AbortController();

  constructor(options: FeedPagesOptions) {
    this.#options = options;
    const { signal } = this.#closing;
    const { excerptBudget } = options;
    this.#excerpts = new FeedExcerpts((range) =>
      this.#reading(signal, (source) => readFlushed(range, equalPart(range, excerptBudget), source)),
    );
  }

  /** Rejects with `StoreError` (`overloaded`) where DuckDB has no memory for a page, or too many readers wait. */
  async read({ afterSequence, limit, ...request }: PageRequest, signal: AbortSignal): Promise<SequencePage> {
    const { evictCaches } = this.#options;
    const wanted = distinctWanted(request.wanted);
    const most = mostLookedAt(wanted);
    const readOn = async (): Promise<SequencePage> => {
      signal.throwIfAborted();
      for (let [after, lookedAt] = [afterSequence, 0]; ; ) {
        if (!this.#hasMore(wanted, after)) {
          return { lines: [], lastSequence: this.#endBehind(after), more: false, lookedAt };
        }
        const piece = await this.#readPiece(wanted, after, limit, signal);
        lookedAt += piece.lookedAt;
        after = piece.lastSequence;
        if (piece.lines.length > 0 || lookedAt >= most) {
          const more = this.#hasMore(wanted, after);
          return { lines: piece.lines, lastSequence: more ? after : this.#endBehind(after), more, lookedAt };
        }
      }
    };
    return await retryWithLess(readOn, evictCaches, OUT_OF_MEMORY);
  }

  /** Interrupts excerpts that are being made. */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason);
    await this.#excerpts.close();
  }

  /** The last sequence, where a reader has all wanted events that are stored now; a reader may be ahead of it. */
  #endBehind(after: bigint): bigint {
    const last = this.#options.versions.endSequence - 1n;
    return after > last ? after : last;
  }

  #hasMore({ zones }: WantedEvents, after: bigint): boolean {
    const { versions } = this.#options;
    return (zones === 'all' ? versions.endSequence - 1n : versions.zoneEnds.of(zones)) > after;
  }

  async #readPiece(wanted: WantedEvents, after: bigint, limit: number, signal: AbortSignal): Promise<FeedPiece> {
    const found = this.#excerpts.find(wanted, after);
    const range = found === undefined ? this.#nextFlushed(wanted, after) : undefined;
    const excerpt = await (found ?? (range && this.#excerpts.open(range)));
    if (excerpt !== undefined) {
      const pieceOf = () => readExcerpt(excerpt, after, limit);
      const next = () => this.#nextFlushed(wanted, excerpt.upTo);
      // Readers that waited for the same excerpt would otherwise make their pages in one turn.
      return await this.#turns.runInAnother(() => this.#excerpts.read(excerpt, wanted, after, pieceOf, next));
    }
    const budget = { events: Math.min(limit, PAGE_EVENTS), bytes: PAGE_BYTES };
    const page = await this.#reading(signal, async (source) => {
      // Unflushed events may have been flushed while the connection was waited for.
      const flushed = range ?? this.#nextFlushed(wanted, after, source.snapshot);
      const growing = { ...wanted, after, upTo: source.snapshot.endSequence - 1n };
      return await (flushed ? readFlushed(flushed, budget, source) : readGrowing(growing, budget, source));
    });
    return await this.#turns.runInAnother(() => readExcerpt(page, after, limit));
  }

  /** Reads on a connection of the feed, of one snapshot. */
  async #reading(signal: AbortSignal, read: (source: ScopeSource) => Promise<FeedExcerpt>): Promise<FeedExcerpt> {
    const { versions, checks, connections, aliases } = this.#options;
    return await checks.reading(signal, async (check) => {
      using connection = await connections.acquire(signal);
      using snapshot = versions.snapshot();
      return await read({ snapshot, aliases, check, runner: connection.runner, signal });
    });
  }

  #nextFlushed(
    wanted: WantedEvents,
    after: bigint,
    parts: Pick<Snapshot, 'segments' | 'blobFiles'> = this.#options.versions,
  ): FlushedRange | undefined {
    return nextFlushed(parts, wanted, after, this.#options.excerptBudget);
  }
}

/** A range that is too large for one excerpt is read in equal parts, by its estimated size. */
function equalPart(range: FlushedRange, { events, bytes }: FeedBudget): FeedBudget {
  const fitting = Math.ceil(range.events / Math.ceil(range.bytes / bytes));
  return { events: Math.max(1, Math.min(events, fitting)), bytes };
}

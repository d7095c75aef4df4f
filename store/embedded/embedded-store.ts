import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchPlan } from '../../query/search-plan.ts';
import type { EventRow, SearchResult } from '../../query/search-result.ts';
import type { FolderCheck } from '../data-folder.ts';
import type {
  AppendReceipt,
  DeadLetterSelection,
  EventBatch,
  EventStore,
  FeedPage,
  FeedRequest,
  SearchOptions,
  StoredDeadLetter,
  StoreStats,
} from '../event-store.ts';
import { StoreError } from '../store-error.ts';
import type { GroupByCache } from './cache/group-by-cache.ts';
import type { ZoneRowCache } from './cache/zone-row-cache.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { DeadLetters } from './catalog/dead-letters.ts';
import type { ExpiredWatermarks } from './catalog/expired-watermarks.ts';
import type { SourceOffsetTable } from './catalog/source-offset-table.ts';
import type { StoreCounters } from './catalog/store-counters.ts';
import type { BackgroundJobs } from './compaction/background-jobs.ts';
import type { ConnectionPool } from './duckdb/connection-pool.ts';
import { isOutOfMemory } from './duckdb/duckdb-engine.ts';
import type { PathAliases } from './duckdb/path-aliases.ts';
import type { ThreadPolicy } from './duckdb/thread-policy.ts';
import { exportRows } from './export/export-reader.ts';
import type { FeedReader } from './feed/feed-reader.ts';
import type { Flusher } from './flush/flusher.ts';
import type { AppendPipeline } from './memtable/append-pipeline.ts';
import { type MaxKept, searchGroups } from './search/group-search.ts';
import { searchRows } from './search/row-search.ts';
import { SearchScope } from './search/search-scope.ts';
import type { SegmentCounts } from './search/segment-counts.ts';
import type { VersionSet } from './snapshot/version-set.ts';

/** The parts of the store, put together by `openStore`. */
export interface StoreParts {
  readonly checkFolder: FolderCheck;
  readonly aliases: PathAliases;
  readonly maxKept: MaxKept;
  /** Undefined: segments are counted anew by every search. */
  readonly counts: SegmentCounts | undefined;
  /** Undefined: so are groups. */
  readonly groups: GroupByCache | undefined;
  readonly catalog: Catalog;
  readonly deadLetters: DeadLetters;
  readonly versions: VersionSet;
  readonly expiredWatermarks: ExpiredWatermarks;
  readonly sourceOffsets: SourceOffsetTable;
  readonly counters: StoreCounters;
  readonly pipeline: AppendPipeline;
  readonly flusher: Flusher;
  readonly backgroundJobs: BackgroundJobs;
  readonly searchers: ConnectionPool;
  readonly threads: ThreadPolicy;
  readonly zoneRowCache: ZoneRowCache;
  readonly feed: FeedReader;
  /** Closes the engine and what else is open, when nothing runs any more. */
  readonly release: () => Promise<void>;
}

/** The event store in this process: journals and segments, all of them Parquet, searched by DuckDB. */
export class EmbeddedStore implements EventStore {
  readonly #parts: StoreParts;
  readonly #storeId: number;
  readonly #searches = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;
  #closingStep = 'its work';

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#storeId = parts.catalog.storeId();
  }

  append(batch: EventBatch): Promise<AppendReceipt> {
    return this.#parts.pipeline.append(batch);
  }

  search(plan: SearchPlan, { signal }: SearchOptions = {}): Promise<SearchResult> {
    return this.#reading(signal, (ended) => this.#search(plan, ended));
  }

  readAll(plan: SearchPlan, { signal }: SearchOptions = {}): AsyncIterable<readonly EventRow[]> {
    return exportRows(plan, { ...this.#parts, whileOpen: (work) => this.#reading(signal, work) });
  }

  readFeed(request: FeedRequest, { signal }: SearchOptions = {}): Promise<FeedPage> {
    return this.#reading(signal, (ended) => this.#parts.feed.read(request, ended));
  }

  storeId(): number {
    return this.#storeId;
  }

  lastSequence(): bigint {
    return this.#parts.versions.endSequence - 1n;
  }

  expiredWatermark(zones: FeedRequest['zones'], afterRuns = 0): bigint {
    return this.#parts.expiredWatermarks.sequence(zones, afterRuns);
  }

  retentionRuns(): number {
    return this.#parts.expiredWatermarks.runs;
  }

  onEvents(listener: () => void): () => void {
    return this.#parts.versions.onAdvance(listener);
  }

  pendingBytes(): number {
    return this.#parts.pipeline.pendingBytes;
  }

  sourceOffset(topic: string, partition: number): bigint | undefined {
    return this.#parts.sourceOffsets.get(topic, partition);
  }

  listDeadLetters(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    return this.#parts.deadLetters.list(selection);
  }

  removeDeadLetters(selection: DeadLetterSelection): Promise<number> {
    return this.#parts.deadLetters.remove(selection);
  }

  async problems(): Promise<readonly string[]> {
    const { checkFolder, flusher, pipeline } = this.#parts;
    const folder = await checkFolder();
    return [
      ...(folder === undefined ? [] : [folder]),
      ...(pipeline.failure === undefined ? [] : [pipeline.failure.message]),
      ...(flusher.failure === undefined
        ? []
        : [`events cannot be moved to disk and stay in memory and in the journal: ${flusher.failure.message}`]),
    ];
  }

  stats(): StoreStats {
    const { versions, deadLetters, counters, zoneRowCache } = this.#parts;
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    const unflushedEvents = sum(versions.growingSegments.map(({ events }) => events));
    return {
      events: unflushedEvents + sum(versions.segments.map(({ rows }) => rows)),
      unflushedEvents,
      segments: versions.segments.length,
      segmentBytes: sum([...versions.segments, ...versions.blobFiles].map(({ bytes }) => bytes)),
      journalBytes: sum(versions.growingSegments.map(({ journalBytes }) => journalBytes)),
      deadLetters: deadLetters.count,
      cachedZones: zoneRowCache.count,
      cachedZoneBytes: zoneRowCache.bytes,
      ...counters,
      nextSequence: versions.endSequence,
    };
  }

  /** Flushes the memtable now; for tests and tools, since it happens by itself. */
  flushNow(): Promise<void> {
    return this.#parts.backgroundJobs.flushNow();
  }

  /** Merges small segments now, and keeps no files for events that may come; for tests and tools, since it happens by itself. */
  compactNow(): Promise<void> {
    return this.#parts.backgroundJobs.compact();
  }

  /** Drops expired segments now; for tests and tools, since it happens by itself. */
  dropExpiredNow(): Promise<void> {
    return this.#parts.backgroundJobs.dropExpired();
  }

  /** Resolves when no zone is being read into memory; for tests and tools. */
  zoneRowCacheIdle(): Promise<void> {
    return this.#parts.zoneRowCache.idle();
  }

  /** What `close` waits for at the moment, for people. */
  get closingStep(): string {
    return this.#closingStep;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Ends the reading with the store, and the store after it. */
  #reading<T>(signal: AbortSignal | undefined, read: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const ended = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    const reading = read(ended);
    this.#searches.add(reading);
    const forget = () => this.#searches.delete(reading);
    reading.then(forget, forget);
    return reading;
  }

  async #search(plan: SearchPlan, signal: AbortSignal): Promise<SearchResult> {
    signal.throwIfAborted();
    const { searchers, threads, groups } = this.#parts;
    const search = () => searchers.use((connection) => this.#searchOn(connection, plan, signal), signal);
    try {
      return await threads.forSearch(() => (groups === undefined ? search() : groups.retryAfterEviction(search)));
    } catch (error) {
      if (!isOutOfMemory(error)) {
        throw error;
      }
      throw new StoreError('overloaded', 'there is not enough memory for this search; try again later, or ask for a shorter window', {
        cause: error,
      });
    }
  }

  async #searchOn(connection: DuckDBConnection, plan: SearchPlan, signal: AbortSignal): Promise<SearchResult> {
    const { versions, aliases, counts, groups, maxKept, zoneRowCache } = this.#parts;
    const snapshot = versions.snapshot();
    const zone = zoneRowCache.acquire(plan, snapshot);
    try {
      const scope = new SearchScope(plan, snapshot, aliases, connection, signal, zone);
      return await (plan.output.kind === 'rows' ? searchRows(scope, counts) : searchGroups(scope, plan.output, maxKept, groups));
    } catch (error) {
      if (isOutOfMemory(error)) {
        zoneRowCache.evictAll();
      }
      throw error;
    } finally {
      zone?.release();
      snapshot.release();
    }
  }

  async #close(): Promise<void> {
    const { pipeline, backgroundJobs, flusher, feed, zoneRowCache, release } = this.#parts;
    const closed = new StoreError('closed', 'the store is closed');
    this.#closing.abort(closed);
    const steps: readonly (readonly [name: string, close: () => Promise<unknown>])[] = [
      // First: the others may be waiting for it.
      ['the events that are being moved to disk', () => flusher.stop()],
      ['the merge that is being given up', () => backgroundJobs.stop()],
      ['the events that are being taken in', () => pipeline.close()],
      ['the feed', () => feed.close(closed)],
      ['the zone that is being read into memory', () => zoneRowCache.close()],
      ['the searches under way', () => Promise.allSettled(this.#searches)],
      ['its threads and files', release],
    ];
    for (const [name, close] of steps) {
      this.#closingStep = name;
      await close();
    }
  }
}

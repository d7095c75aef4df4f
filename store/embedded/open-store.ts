import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type DataFolder, folderCheckOf, prepareDataFolder } from '../data-folder.ts';
import { type StoreLogger, silentLogger } from '../store-logger.ts';
import { BlobFileWriter } from './blob/blob-file-writer.ts';
import { LogMemory } from './blob/log-memory.ts';
import { GroupByCache } from './cache/group-by-cache.ts';
import { type GroupByCacheLimits, groupByCacheLimitsOf } from './cache/group-by-cache-limits.ts';
import { ZoneRowCache } from './cache/zone-row-cache.ts';
import { type ZoneRowCacheLimits, zoneRowCacheLimits } from './cache/zone-row-cache-limits.ts';
import { Catalog } from './catalog/catalog.ts';
import { DeadLetters } from './catalog/dead-letters.ts';
import { ExpiredWatermarks } from './catalog/expired-watermarks.ts';
import { cleanFolder, unflushedJournals } from './catalog/recovery.ts';
import { SourceOffsetTable } from './catalog/source-offset-table.ts';
import { BackgroundJobs } from './compaction/background-jobs.ts';
import { lastSequencesIn } from './compaction/expired-sequences.ts';
import { MergeWriter } from './compaction/merge-writer.ts';
import { dropExpiredSegments, type RetentionOptions } from './compaction/retention.ts';
import { ConnectionPool } from './duckdb/connection-pool.ts';
import { rememberFooters, startEngine } from './duckdb/duckdb-engine.ts';
import { PathAliases } from './duckdb/path-aliases.ts';
import { ThreadPolicy } from './duckdb/thread-policy.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { FeedReader, feedWindowBudget } from './feed/feed-reader.ts';
import { FieldsWriter } from './flush/fields-writer.ts';
import { Flusher } from './flush/flusher.ts';
import { JournalFolder } from './journal/journal-folder.ts';
import { AppendPipeline } from './memtable/append-pipeline.ts';
import { maxDedupEvents } from './memtable/duplicate-check.ts';
import { Loader } from './memtable/loader.ts';
import { IdleGate } from './runtime/idle-gate.ts';
import { SearchActivity } from './runtime/search-activity.ts';
import { MAX_KEPT, type MaxKept } from './search/group-search.ts';
import { SegmentCounts } from './search/segment-counts.ts';
import { PartRemover } from './snapshot/part-remover.ts';
import { VersionSet } from './snapshot/version-set.ts';

/** Searches that run at the same time; more would only share the same cores. */
export const CONCURRENT_SEARCHES = 4;
/** Searches that wait for their turn; further ones are refused with `overloaded`. */
export const WAITING_SEARCHES = 256;
/** Pages of the feed that are read at the same time, and windows that are prepared. */
const CONCURRENT_FEEDS = 4;

/**
 * Of the memory that the store's DuckDB may use, beside it, what that of merges in the background may. With less than the least it sorts
 * nothing.
 */
const MERGES_SHARE = 1 / 4;
const MIN_MB_OF_MERGES = 128;

/** How long after the last bulk load searches get every core again. */
const IDLE_MS = 1_000;

/** A search that has just been answered is often followed by another one. */
const IDLE_AFTER_SEARCH_MS = 2;

const BACKGROUND_JOBS_EVERY_MS = 5_000;

const DEAD_LETTER_QUOTA_BYTES = 1024 ** 3;
const DEAD_LETTER_RETENTION_MS = 7 * 24 * 3_600_000;

export interface StoreOptions {
  readonly dataDir: string;
  /** What DuckDB may hold in memory before it spills to the data folder. */
  readonly memoryLimitMb: number;
  readonly retentionMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly logger?: StoreLogger;
  /** Whether what searches found in segments is cached. Default: true. */
  readonly cachesCounts?: boolean;
  /** How group searches are made, for tests of all ways. */
  readonly maxKept?: MaxKept;
  /** How much of them is cached, for tests of the limits. */
  readonly groupByCacheLimits?: GroupByCacheLimits;
  /** How many events the dedup index holds, for tests of the limit. */
  readonly maxDedupEvents?: number;
  /** Which zones are read into memory, where that is to differ from what suits the memory limit. */
  readonly zoneRowCache?: Partial<ZoneRowCacheLimits>;
  /** What the dead letters may take. Default: 1 GiB. */
  readonly deadLetterQuotaBytes?: number;
  /** How long they are kept. Default: 7 days. */
  readonly deadLetterRetentionMs?: number;
  /** How often it does what can wait: flushes old memtables, merges, drops what has expired. Default: every five seconds. */
  readonly backgroundJobsEveryMs?: number;
}

export type OpenStore = EmbeddedStore;

/**
 * Opens the event store in a folder and brings it to where it was: what a crash left half done is removed, and the events that were on
 * disk but not in a segment are searchable again when this resolves.
 * Throws `StoreError`: `folder_in_use`, `folder_unusable`, `corrupt`.
 */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const folder = prepareDataFolder(options.dataDir);
  const catalog = new Catalog(folder.catalogFile);
  try {
    return await openWithCatalog(folder, catalog, options);
  } catch (error) {
    catalog.close();
    throw error;
  }
}

async function openWithCatalog(folder: DataFolder, catalog: Catalog, options: StoreOptions): Promise<OpenStore> {
  const { memoryLimitMb, retentionMs, now, logger = silentLogger, cachesCounts = true, maxKept = MAX_KEPT } = options;
  const { groupByCacheLimits = groupByCacheLimitsOf(memoryLimitMb), backgroundJobsEveryMs = BACKGROUND_JOBS_EVERY_MS } = options;
  await cleanFolder(folder, catalog);
  const { flushedJournal, nextSequence, sourceOffsets: stored, expiredEvents, duplicateEvents } = catalog.progress();
  const journalFolder = new JournalFolder(folder.journal, catalog.emptyJournals);
  const journals = await unflushedJournals(journalFolder, flushedJournal);

  const cores = availableParallelism();
  const engine = await startEngine({ memoryLimitMb, spillFolder: folder.spill, threads: cores });
  const [loading, flushing, merging] = await Promise.all([engine.connect(), engine.connect(), engine.connect()]);
  const [removing, settings, zoneReading] = await Promise.all([engine.connect(), engine.connect(), engine.connect()]);
  await rememberFooters(zoneReading);
  const searchers = await ConnectionPool.open(engine, CONCURRENT_SEARCHES, WAITING_SEARCHES, rememberFooters);

  const feedConnections = await ConnectionPool.open(engine, CONCURRENT_FEEDS, WAITING_SEARCHES);

  const aliases = new PathAliases({ segmentsFolder: folder.segments, linksFolder: folder.links, logger });
  const remover = new PartRemover(removing, aliases, journalFolder, logger);
  const versions = new VersionSet({ segments: catalog.segments(), blobFiles: catalog.blobFiles() }, nextSequence, (retired) =>
    remover.remove(retired),
  );
  const expiredWatermarks = new ExpiredWatermarks(catalog.expiredWatermarks.list());
  const retention: RetentionOptions = {
    catalog,
    versions,
    expiredWatermarks,
    lastSequences: (segments) => lastSequencesIn(segments, { connection: merging, aliases, logger }),
    retentionMs,
  };
  await dropExpiredSegments(retention, now());
  const deadLetters = await DeadLetters.open(
    {
      file: folder.deadLetterFile,
      quotaBytes: options.deadLetterQuotaBytes ?? DEAD_LETTER_QUOTA_BYTES,
      retentionMs: options.deadLetterRetentionMs ?? DEAD_LETTER_RETENTION_MS,
      logger,
    },
    catalog.legacyDeadLetters,
  );
  const sourceOffsets = new SourceOffsetTable(stored);
  const counters = { expiredEvents, duplicateEvents };
  const rewriting = { aliases, catalog, versions, now };
  const fields = new FieldsWriter(flushing);
  const blobFiles = new BlobFileWriter();
  const flusher = new Flusher({ ...rewriting, fields, blobFiles, logger });
  const searches = new SearchActivity();
  const threads = new ThreadPolicy({ connection: settings, cores, searches, idleMs: IDLE_MS, logger });
  const logMemory = new LogMemory();
  const loader = await Loader.start(
    {
      connection: loading,
      aliases,
      logMemory,
      versions,
      sourceOffsets,
      counters,
      now,
      dropFiles: (journal) => journalFolder.dropFiles(journal),
      maxDedupEvents: options.maxDedupEvents ?? maxDedupEvents(memoryLimitMb),
      onClosed: (closed) => flusher.enqueue(closed),
      onLoad: (events) => threads.load(events),
      roomToClose: () => flusher.room(),
    },
    { journal: flushedJournal + 1, sequence: nextSequence },
  );
  for (const journal of journals) {
    await loader.load(journal, [await journalFolder.readLogs(journal)]);
  }
  if (journals.length > 0) {
    logger.info(
      { journals: journals.length, events: versions.growingSegments.reduce((sum, { events }) => sum + events, 0) },
      'journals reloaded',
    );
  }
  const pipeline = new AppendPipeline({
    journals: journalFolder,
    keepDeadLetters: (letters) => deadLetters.add(letters, now()),
    loader,
    now,
  });
  const merges = new MergeWriter({
    runner: merging,
    memoryLimitMb: Math.max(MIN_MB_OF_MERGES, Math.ceil(memoryLimitMb * MERGES_SHARE)),
    spillFolder: join(folder.spill, 'merging'),
  });
  const zoneRowCache = new ZoneRowCache({
    versions,
    aliases,
    connection: zoneReading,
    gate: new IdleGate({ searches, idleMs: IDLE_AFTER_SEARCH_MS }),
    limits: { ...zoneRowCacheLimits(memoryLimitMb), ...options.zoneRowCache },
    now,
    logger,
  });
  const backgroundJobs = new BackgroundJobs({
    pipeline,
    loader,
    flusher,
    remover,
    journals: journalFolder,
    logMemory,
    compaction: rewriting,
    merges,
    retention,
    deadLetters,
    zoneRowCache,
    now,
    everyMs: backgroundJobsEveryMs,
    logger,
  });

  const dropTable = (name: string) => remover.dropTable(name);
  const groups = new GroupByCache({ ...groupByCacheLimits, dropTable, dropped: () => remover.idle() });
  const feed = new FeedReader({
    versions,
    aliases,
    connections: feedConnections,
    windowBudget: feedWindowBudget(memoryLimitMb),
    evictAll: () => zoneRowCache.evictAll(),
  });
  const release = async () => {
    await deadLetters.close();
    await threads.stop();
    await fields.close();
    await blobFiles.close();
    await merges.close();
    await remover.idle();
    searchers.close();
    feedConnections.close();
    for (const connection of [loading, flushing, merging, removing, settings, zoneReading]) {
      connection.closeSync();
    }
    engine.closeSync();
    catalog.close();
  };
  return new EmbeddedStore({
    checkFolder: folderCheckOf(folder),
    aliases,
    maxKept,
    counts: cachesCounts ? new SegmentCounts() : undefined,
    groups: cachesCounts ? groups : undefined,
    catalog,
    deadLetters,
    versions,
    expiredWatermarks,
    sourceOffsets,
    counters,
    pipeline,
    flusher,
    backgroundJobs,
    searchers,
    threads,
    zoneRowCache,
    feed,
    release,
  });
}

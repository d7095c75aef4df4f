import { join } from 'node:path';
import { DAY_MS } from '../../query/durations.ts';
import type { DataFolder } from '../data-folder.ts';
import { type StoreLogger, silentLogger } from '../event-store.ts';
import { MEBIBYTE, memoryShares } from '../memory-shares.ts';
import { HOLD_MS, RetentionHold } from '../retention-hold.ts';
import { BackgroundJobs } from './background-jobs.ts';
import { Backups } from './backup/backups.ts';
import { createBlobFileWriter } from './blob/blob-file-writer.ts';
import { LogMemory } from './blob/memtable-logs.ts';
import type { StoreCounters } from './catalog/catalog.ts';
import { DeadLetters } from './catalog/dead-letter-thread.ts';
import { ExpiredWatermarks } from './catalog/expired-watermarks.ts';
import type { OpenCatalog } from './catalog/open-catalog.ts';
import { StoredOffsets } from './catalog/stored-offsets.ts';
import { MergeWriter } from './compaction/merge.ts';
import type { OpenEngine } from './duckdb/duckdb-engine.ts';
import { FieldsWriter } from './flush/flush-fields.ts';
import type { FlushOptions } from './flush/flush-memtable.ts';
import { Flusher } from './flush/flusher.ts';
import type { SegmentChecks } from './integrity/segment-checks.ts';
import { AppendPipeline } from './memtable/append-pipeline.ts';
import { maxDedupEvents } from './memtable/duplicate-precheck.ts';
import { Loader, type LoaderOptions } from './memtable/memtable-loader.ts';
import { Scrub } from './repair/scrub.ts';
import { dropExpiredSegments, lastSequencesIn, type RetentionOptions } from './retention/retention.ts';
import type { Closing } from './runtime/closing.ts';
import type { PartRemover } from './snapshot/part-remover.ts';
import type { VersionSet } from './snapshot/version-set.ts';
import type { StoreOptions, StoreTuning } from './store-options.ts';

const BACKGROUND_JOBS_EVERY_MS = 5_000;
/** As long as with ClickHouse. */
const FAILURE_HOLD_MS = 30_000;

const DEAD_LETTER_QUOTA_BYTES = 1024 ** 3;
const DEAD_LETTER_RETENTION_MS = 7 * DAY_MS;

/** The parts of a store that take events in, from `append` to published segments and their removal. */
export interface WritePath {
  readonly pipeline: AppendPipeline;
  readonly flusher: Flusher;
  readonly backgroundJobs: BackgroundJobs;
  readonly backups: Backups;
  readonly deadLetters: DeadLetters;
  readonly retentionHold: RetentionHold;
  readonly scrub: Scrub;
  readonly expiredWatermarks: ExpiredWatermarks;
  readonly sourceOffsets: StoredOffsets;
  readonly counters: StoreCounters;
}

interface WritePathParts {
  readonly folder: DataFolder;
  readonly durable: OpenCatalog;
  readonly engine: OpenEngine;
  readonly versions: VersionSet;
  readonly checks: SegmentChecks;
  readonly remover: PartRemover;
}

/**
 * Drops what has expired and makes the events of the journals searchable again.
 * Throws `StoreError`: `corrupt`, `folder_unusable`.
 */
export async function openWritePath(
  parts: WritePathParts,
  options: StoreOptions,
  tuning: StoreTuning,
  closing: Closing,
): Promise<WritePath> {
  const { dedupIndexShareMb } = memoryShares(options.memoryLimitMb);
  const {
    maxDedupEvents: dedupEvents = maxDedupEvents(dedupIndexShareMb * MEBIBYTE),
    backgroundJobsEveryMs = BACKGROUND_JOBS_EVERY_MS,
    failureHoldMs = FAILURE_HOLD_MS,
  } = tuning;
  const { folder, durable, engine, versions, checks, remover } = parts;
  const { now, logger = silentLogger } = options;
  const { catalog, journalFolder: journals } = durable;
  const { sourceOffsets: stored, expiredEvents, duplicateEvents } = catalog.progress();
  const rewriting = { aliases: engine.aliases, checks, catalog, versions, now };

  const retention = await openRetention(parts, options, tuning);
  await dropExpiredSegments(retention, now(), 'clock');
  const deadLetters = await openDeadLetters(parts, options, closing);
  const flusher = await openFlusher(engine, { ...rewriting, journals, logger }, closing);
  const sourceOffsets = new StoredOffsets(stored);
  const counters = { expiredEvents, duplicateEvents };
  const logMemory = new LogMemory();
  const { aliases, threads } = engine;
  const runner = await engine.connect();
  const loading = { runner, aliases, checks, threads, logMemory, versions, journals, sourceOffsets, counters, flusher, now };
  const loader = await reloadJournals({ ...loading, maxDedupEvents: dedupEvents }, durable, logger);
  const pipeline = new AppendPipeline({ journals, deadLetters, epochs: catalog.epochs, loader, now, failureHoldMs });
  closing.add('the events that are being taken in', () => pipeline.close());

  const merges = await openMerges(parts, options, closing);
  const scrub = new Scrub({ segmentsFolder: folder.segments, versions, checks, catalog, elapsedMs: () => performance.now(), logger });
  const backgroundJobs = new BackgroundJobs({
    pipeline,
    loader,
    flusher,
    remover,
    scrub,
    journals,
    logMemory,
    compaction: rewriting,
    merges,
    retention,
    deadLetters,
    letterHold: holdOf('dead letters', options, tuning),
    now,
    everyMs: backgroundJobsEveryMs,
    logger,
  });
  closing.add('the merge that is being given up', () => backgroundJobs.stop());
  const backups = new Backups({ folder: parts.folder, catalog, versions, pipeline, loader, flusher, deadLetters });
  closing.add('the backup that is being begun', () => backups.close());
  // The flusher is closed first, because the jobs and the pipeline may be waiting for it.
  closing.add('the events that are being moved to disk', () => flusher.stop());
  const { expiredWatermarks, hold: retentionHold } = retention;
  return { pipeline, flusher, backgroundJobs, backups, deadLetters, retentionHold, scrub, expiredWatermarks, sourceOffsets, counters };
}

function holdOf(what: string, { logger = silentLogger }: StoreOptions, { retentionHoldMs: waitMs = HOLD_MS }: StoreTuning): RetentionHold {
  return new RetentionHold({ what, waitMs, elapsedMs: () => performance.now(), logger });
}

async function openRetention(
  { durable: { catalog }, engine, versions, checks }: WritePathParts,
  options: StoreOptions,
  tuning: StoreTuning,
): Promise<RetentionOptions> {
  const { retentionMs, logger = silentLogger } = options;
  const hold = holdOf('events', options, tuning);
  const reading = { runner: await engine.connect(), aliases: engine.aliases, checks, logger };
  const expiredWatermarks = new ExpiredWatermarks(catalog.expiredWatermarks.list());
  return { catalog, versions, expiredWatermarks, lastSequences: (segments) => lastSequencesIn(segments, reading), retentionMs, hold };
}

async function openDeadLetters(
  { folder }: WritePathParts,
  {
    deadLetterQuotaBytes: quotaBytes = DEAD_LETTER_QUOTA_BYTES,
    deadLetterRetentionMs: retentionMs = DEAD_LETTER_RETENTION_MS,
    logger = silentLogger,
  }: StoreOptions,
  closing: Closing,
): Promise<DeadLetters> {
  const deadLetters = await DeadLetters.open({ file: folder.deadLetterFile, quotaBytes, retentionMs, logger });
  closing.add('the dead letters', () => deadLetters.close());
  return deadLetters;
}

async function openFlusher(engine: OpenEngine, options: Omit<FlushOptions, 'fields' | 'blobFiles'>, closing: Closing): Promise<Flusher> {
  const fields = new FieldsWriter(await engine.connect());
  closing.add('the thread that writes fields', () => fields.close());
  const blobFiles = createBlobFileWriter();
  closing.add('the thread that writes logs', () => blobFiles.close());
  const flusher = new Flusher({ ...options, fields, blobFiles });
  closing.add('the events that are being moved to disk', () => flusher.stop());
  return flusher;
}

async function reloadJournals(
  options: LoaderOptions,
  { catalog, journalFolder, journals }: OpenCatalog,
  logger: StoreLogger,
): Promise<Loader> {
  const { flushedJournal, nextSequence } = catalog.progress();
  const loader = await Loader.start(options, { journal: flushedJournal + 1, sequence: nextSequence });
  for (const journal of journals) {
    await loader.load(journal, [await journalFolder.readLogs(journal)]);
  }
  if (journals.length > 0) {
    const events = options.versions.growingSegments.reduce((sum, segment) => sum + segment.events, 0);
    logger.info({ journals: journals.length, events }, 'journals reloaded');
  }
  return loader;
}

async function openMerges({ folder, engine }: WritePathParts, { memoryLimitMb }: StoreOptions, closing: Closing): Promise<MergeWriter> {
  const merges = new MergeWriter({
    runner: await engine.connect(),
    memoryLimitMb: memoryShares(memoryLimitMb).mergesShareMb,
    spillFolder: join(folder.spill, 'merging'),
  });
  closing.add('the thread that writes merges', () => merges.close());
  return merges;
}

import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { silentLogger } from '../event-store.ts';
import { createBlobFileWriter } from './blob/blob-file-writer.ts';
import { LogMemory } from './blob/memtable-logs.ts';
import type { StoreCounters } from './catalog/catalog.ts';
import { DeadLetters } from './catalog/dead-letters.ts';
import { ExpiredWatermarks } from './catalog/expired-watermarks.ts';
import type { OpenCatalog } from './catalog/open-catalog.ts';
import { SourceOffsetTable } from './catalog/source-offset-table.ts';
import { BackgroundJobs } from './compaction/background-jobs.ts';
import { MergeWriter } from './compaction/merge.ts';
import { dropExpiredSegments, lastSequencesIn, type RetentionOptions } from './compaction/retention.ts';
import type { OpenEngine } from './duckdb/duckdb-engine.ts';
import { FieldsWriter } from './flush/flush-fields.ts';
import { Flusher } from './flush/flusher.ts';
import { AppendPipeline } from './memtable/append-pipeline.ts';
import { maxDedupEvents } from './memtable/duplicate-precheck.ts';
import { Loader } from './memtable/memtable-loader.ts';
import type { Closing } from './runtime/closing.ts';
import type { PartRemover } from './snapshot/part-remover.ts';
import type { VersionSet } from './snapshot/version-set.ts';
import type { StoreOptions, StoreTuning } from './store-options.ts';

const BACKGROUND_JOBS_EVERY_MS = 5_000;

const DEAD_LETTER_QUOTA_BYTES = 1024 ** 3;
const DEAD_LETTER_RETENTION_MS = 7 * 24 * 3_600_000;

/** Background merges may use this share of DuckDB's memory limit, in addition to it. With less than the minimum DuckDB cannot sort. */
const MERGES_SHARE = 1 / 4;
const MIN_MB_OF_MERGES = 128;

/** The parts of a store that take events in, from `append` to published segments and their removal. */
export interface WritePath {
  readonly pipeline: AppendPipeline;
  readonly flusher: Flusher;
  readonly backgroundJobs: BackgroundJobs;
  readonly deadLetters: DeadLetters;
  readonly expiredWatermarks: ExpiredWatermarks;
  readonly sourceOffsets: SourceOffsetTable;
  readonly counters: StoreCounters;
}

interface WritePathParts {
  readonly folder: DataFolder;
  readonly durable: OpenCatalog;
  readonly engine: OpenEngine;
  readonly versions: VersionSet;
  readonly remover: PartRemover;
}

/**
 * Drops what has expired and makes the events of the journals searchable again.
 * Throws `StoreError`: `corrupt`, `folder_unusable`.
 */
export async function openWritePath(
  { folder, durable, engine, versions, remover }: WritePathParts,
  options: StoreOptions,
  tuning: StoreTuning,
  closing: Closing,
): Promise<WritePath> {
  const { memoryLimitMb, retentionMs, now, logger = silentLogger } = options;
  const { catalog, journalFolder } = durable;
  const { flushedJournal, nextSequence, sourceOffsets: stored, expiredEvents, duplicateEvents } = catalog.progress();
  const { aliases, threads } = engine;
  const [loading, flushing, merging, expiring] = await Promise.all([
    engine.connect(),
    engine.connect(),
    engine.connect(),
    engine.connect(),
  ]);

  const expiredWatermarks = new ExpiredWatermarks(catalog.expiredWatermarks.list());
  const retention: RetentionOptions = {
    catalog,
    versions,
    expiredWatermarks,
    lastSequences: (segments) => lastSequencesIn(segments, { runner: expiring, aliases, logger }),
    retentionMs,
  };
  await dropExpiredSegments(retention, now());

  const deadLetters = await DeadLetters.open({
    file: folder.deadLetterFile,
    quotaBytes: options.deadLetterQuotaBytes ?? DEAD_LETTER_QUOTA_BYTES,
    retentionMs: options.deadLetterRetentionMs ?? DEAD_LETTER_RETENTION_MS,
    logger,
  });
  closing.add('the dead letters', () => deadLetters.close());

  const rewriting = { aliases, catalog, versions, now };
  const fields = new FieldsWriter(flushing);
  closing.add('the thread that writes fields', () => fields.close());
  const blobFiles = createBlobFileWriter();
  closing.add('the thread that writes logs', () => blobFiles.close());
  const flusher = new Flusher({ ...rewriting, fields, blobFiles, logger });
  closing.add('the events that are being moved to disk', () => flusher.stop());

  const sourceOffsets = new SourceOffsetTable(stored);
  const counters = { expiredEvents, duplicateEvents };
  const logMemory = new LogMemory();
  const loader = await Loader.start(
    {
      runner: loading,
      aliases,
      logMemory,
      versions,
      sourceOffsets,
      counters,
      now,
      dropFiles: (journal) => journalFolder.dropFiles(journal),
      maxDedupEvents: tuning.maxDedupEvents ?? maxDedupEvents(memoryLimitMb),
      onClosed: (closed) => flusher.enqueue(closed),
      onLoad: (events) => threads.load(events),
      roomToClose: () => flusher.room(),
    },
    { journal: flushedJournal + 1, sequence: nextSequence },
  );
  for (const journal of durable.journals) {
    await loader.load(journal, [await journalFolder.readLogs(journal)]);
  }
  if (durable.journals.length > 0) {
    const events = versions.growingSegments.reduce((sum, segment) => sum + segment.events, 0);
    logger.info({ journals: durable.journals.length, events }, 'journals reloaded');
  }
  const pipeline = new AppendPipeline({
    journals: journalFolder,
    keepDeadLetters: (letters) => deadLetters.add(letters, now()),
    loader,
    now,
  });
  closing.add('the events that are being taken in', () => pipeline.close());

  const merges = new MergeWriter({
    runner: merging,
    memoryLimitMb: Math.max(MIN_MB_OF_MERGES, Math.ceil(memoryLimitMb * MERGES_SHARE)),
    spillFolder: join(folder.spill, 'merging'),
  });
  closing.add('the thread that writes merges', () => merges.close());
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
    now,
    everyMs: tuning.backgroundJobsEveryMs ?? BACKGROUND_JOBS_EVERY_MS,
    logger,
  });
  closing.add('the merge that is being given up', () => backgroundJobs.stop());
  // It stops first, because the jobs and the pipeline may be waiting for it.
  closing.add('the events that are being moved to disk', () => flusher.stop());
  return { pipeline, flusher, backgroundJobs, deadLetters, expiredWatermarks, sourceOffsets, counters };
}

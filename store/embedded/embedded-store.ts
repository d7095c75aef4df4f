import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan, TimeWindow, ZoneSelection } from '../../query/plan/search-plan.ts';
import type { ExploreResult, RowPiece, SearchResult } from '../../query/plan/search-result.ts';
import type { FolderCheck } from '../data-folder.ts';
import type { DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from '../dead-letter.ts';
import type {
  ActiveRule,
  ActiveZone,
  CheckLine,
  EventBatch,
  EventStore,
  FeedPage,
  FeedPositions,
  FeedRequest,
  SearchOptions,
  StoreBackup,
  StoreStats,
  StoreTotals,
} from '../event-store.ts';
import { storeClosed } from '../store-error.ts';
import { embeddedLetterIds } from './catalog/dead-letter-table.ts';
import type { EpochTable } from './catalog/epoch-table.ts';
import { type CheckedParts, checkFiles } from './check/file-checks.ts';
import type { OpenEngine } from './duckdb/duckdb-engine.ts';
import { exportRows } from './export/export-reader.ts';
import { EmbeddedPositions, sequenceOf } from './feed/feed-positions.ts';
import type { SegmentChecks } from './integrity/segment-checks.ts';
import type { JournalReceipt } from './memtable/append-pipeline.ts';
import type { ReadPath } from './read-path.ts';
import type { Closing } from './runtime/closing.ts';
import type { BlobFile } from './segment/blob-file.ts';
import type { DamagedSegment } from './segment/segment.ts';
import { ingestTimeAt } from './snapshot/ingest-times.ts';
import type { VersionSet } from './snapshot/version-set.ts';
import type { WritePath } from './write-path.ts';

/** The parts of the store, put together by `openEmbeddedStore`. */
export interface StoreParts extends ReadPath, WritePath, Pick<OpenEngine, 'aliases'> {
  /** 32 bits that tell this store from others. */
  readonly storeId: number;
  readonly epochs: EpochTable;
  readonly checkFolder: FolderCheck;
  readonly versions: VersionSet;
  readonly checks: SegmentChecks;
  /** What a check of all files reads. */
  readonly checkedParts: () => CheckedParts;
  readonly closing: Closing;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The event store in this process: journals and segments are Parquet files, which DuckDB searches. */
export class EmbeddedStore implements EventStore {
  readonly positions: FeedPositions;
  readonly alertClaim = null;
  readonly #parts: StoreParts;
  #closed: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.positions = new EmbeddedPositions(parts);
  }

  append(batch: EventBatch): Promise<JournalReceipt> {
    return this.#parts.pipeline.append(batch);
  }

  async search(plan: SearchPlan, { signal }: SearchOptions = {}): Promise<SearchResult> {
    return await this.#parts.search.search(plan, this.#parts.readings.begin(signal));
  }

  async explore(plan: ExplorePlan, { signal }: SearchOptions = {}): Promise<ExploreResult> {
    return await this.#parts.search.explore(plan, this.#parts.readings.begin(signal));
  }

  async activeZones(window: TimeWindow, zones: ZoneSelection, { signal }: SearchOptions = {}): Promise<readonly ActiveZone[]> {
    using reading = this.#parts.readings.begin(signal);
    return await this.#parts.search.activeZones(window, zones, reading.signal);
  }

  async activeRules(window: TimeWindow, zones: ZoneSelection, { signal }: SearchOptions = {}): Promise<readonly ActiveRule[]> {
    using reading = this.#parts.readings.begin(signal);
    return await this.#parts.search.activeRules(window, zones, reading.signal);
  }

  readAll(plan: SearchPlan, { signal }: SearchOptions = {}): AsyncIterable<RowPiece> {
    return exportRows(plan, this.#parts, signal);
  }

  async readFeed({ after, limit, ...wanted }: FeedRequest, { signal }: SearchOptions = {}): Promise<FeedPage> {
    const { readings, feed, versions, pipeline, now } = this.#parts;
    using reading = readings.begin(signal);
    // Of what is appended from here on, nothing is taken in before this time.
    const seen = { endSequence: versions.endSequence, atMs: pipeline.pendingBytes === 0 ? now() : undefined };
    const page = await feed.read({ wanted, limit, afterSequence: sequenceOf(after) }, reading.signal);
    const { lines, more, lastSequence, lookedAt } = page;
    const last = lines.at(-1);
    const isAtEnd = !more || lastSequence >= seen.endSequence - 1n;
    const newest = isAtEnd ? seen.endSequence - 1n : lastSequence;
    const completeToMs =
      (isAtEnd ? seen.atMs : undefined) ?? (last?.sequence === newest ? last.ingestedAtMs : ingestTimeAt(versions, newest));
    const unreadable = versions.unreadableBetween(wanted.zones, sequenceOf(after) + 1n, lastSequence);
    return { lines, more, lookedAt, completeToMs, unreadable, end: this.positions.advance(after, { sequence: lastSequence }) };
  }

  mostEvents(zones: ZoneSelection, window: TimeWindow): number {
    return this.#parts.versions.mostEvents(zones, window);
  }

  unreadableEvents(zones: ZoneSelection, window: TimeWindow): number {
    return this.#parts.versions.unreadableEvents(zones, window);
  }

  onEvents(listener: () => void): () => void {
    return this.#parts.versions.onAdvance(listener);
  }

  pendingBytes(): number {
    return this.#parts.pipeline.pendingBytes;
  }

  async sourceOffset(topic: string, partition: number): Promise<bigint | undefined> {
    return this.#parts.sourceOffsets.get(topic, partition)?.nextOffset;
  }

  async sourceTopicId(topic: string, partition: number): Promise<string | undefined> {
    return this.#parts.sourceOffsets.get(topic, partition)?.topicId;
  }

  get deadLetterIds(): DeadLetterIds {
    return embeddedLetterIds;
  }

  listDeadLetters(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    return this.#parts.deadLetters.list(selection);
  }

  removeDeadLetters(selection: DeadLetterSelection): Promise<number> {
    return this.#parts.deadLetters.remove(selection);
  }

  async reasonsNotReady(): Promise<readonly string[]> {
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

  notes(): readonly string[] {
    const { retentionHold, versions, scrub } = this.#parts;
    const notes = [retentionHold.reason, damageNote(versions.damaged), logsNote([...scrub.damagedBlobFiles])];
    return notes.filter((note) => note !== undefined);
  }

  async *check(): AsyncGenerator<CheckLine> {
    using reading = this.#parts.readings.begin(undefined);
    for await (const line of checkFiles(this.#parts.checkedParts())) {
      reading.signal.throwIfAborted();
      yield line;
    }
  }

  counters(): StoreTotals {
    const { versions, counters } = this.#parts;
    // The first event has the sequence 1. Duplicates have taken a sequence, too.
    return { ...counters, storedEvents: Number(versions.endSequence) - 1 - counters.duplicateEvents, lateEvents: 0 };
  }

  async stats(): Promise<StoreStats> {
    const { versions, deadLetters } = this.#parts;
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    const unflushedEvents = sum(versions.growingSegments.map(({ events }) => events));
    return {
      events: unflushedEvents + sum(versions.segments.map(({ rows }) => rows)),
      unflushedEvents,
      segments: versions.segments.length,
      segmentBytes: sum([...versions.segments, ...versions.blobFiles].map(({ bytes }) => bytes)),
      journalBytes: sum(versions.growingSegments.map(({ journalBytes }) => journalBytes)),
      deadLetters: deadLetters.count,
      unreadableEvents: versions.unreadableEvents('all', ALL_TIMES),
      ...this.counters(),
      clockBehindMs: 0,
    };
  }

  beginBackup(earlier?: readonly string[]): Promise<StoreBackup> {
    return this.#parts.backups.begin(earlier);
  }

  /** Flushes the memtable. The background jobs do so by themselves; this is for tests and tools. */
  flushNow(): Promise<void> {
    return this.#parts.backgroundJobs.flushNow();
  }

  /** Merges small segments, and removes recycled journal files. Also for tests and tools. */
  compactNow(): Promise<void> {
    return this.#parts.backgroundJobs.compact();
  }

  /** Drops expired segments, dead letters and journals set aside, also where that is most of the events. Also for tests and tools. */
  dropExpiredNow(): Promise<void> {
    return this.#parts.backgroundJobs.dropExpired();
  }

  get closingStep(): string {
    return this.#parts.closing.waitsFor;
  }

  close(): Promise<void> {
    const { readings, closing } = this.#parts;
    readings.end(storeClosed());
    this.#closed ??= closing.close();
    return this.#closed;
  }
}

const ALL_TIMES: TimeWindow = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

function damageNote([first, ...others]: readonly DamagedSegment[]): string | undefined {
  if (first === undefined) {
    return undefined;
  }
  const { segment, fault } = first;
  const events = others.reduce((sum, one) => sum + one.segment.rows, segment.rows);
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${events} events at most cannot be read: segment ${JSON.stringify(segment.file)} is damaged or missing: ${fault}${more}`;
}

function logsNote([first, ...others]: readonly (readonly [blobFile: BlobFile, fault: string])[]): string | undefined {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return (
    first &&
    `logs of blob file ${JSON.stringify(first[0].file)} are answered as {}, because they are damaged or missing: ${first[1]}${more}`
  );
}

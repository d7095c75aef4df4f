import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { SearchPlan, TimeWindow, ZoneSelection } from '../../query/plan/search-plan.ts';
import type { ExploreResult, RowPiece, SearchResult } from '../../query/plan/search-result.ts';
import type { FolderCheck } from '../data-folder.ts';
import type { DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from '../dead-letter.ts';
import type {
  ActiveRule,
  ActiveZone,
  AlertClaim,
  AppendReceipt,
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
import type { Reading, Readings } from '../readings.ts';
import type { RetentionHold } from '../retention-hold.ts';
import { StoreError, storeClosed } from '../store-error.ts';
import type { ArrivalWatch } from './feed/arrival-watch.ts';
import type { Feed } from './feed/feed.ts';
import { type SharedDeadLetters, sharedLetterIds } from './intake/dead-letters.ts';
import type { InsertPipeline } from './intake/insert-pipeline.ts';
import type { SourceOffsets } from './intake/source-offsets.ts';
import type { Retention } from './retention.ts';
import type { EventSource } from './search/event-reader.ts';
import { exploreEvents } from './search/explore.ts';
import { readAllEvents } from './search/export.ts';
import { activeRulesOf, activeZonesOf, searchEvents } from './search/search.ts';
import type { StoreClock } from './server/store-clock.ts';
import type { Visibility } from './server/visibility.ts';
import type { Setup } from './setup.ts';
import type { StoreSettings } from './store-settings.ts';
import type { TableStats } from './table-stats.ts';

/** The parts of the store, put together by `openClickhouseStore`. */
export interface ClickhouseParts {
  readonly setup: Setup;
  readonly clock: StoreClock;
  readonly visibility: Visibility;
  readonly source: EventSource;
  readonly pipeline: InsertPipeline;
  readonly deadLetters: SharedDeadLetters;
  readonly sourceOffsets: SourceOffsets;
  readonly positions: FeedPositions;
  readonly alertClaim: AlertClaim;
  readonly feed: Feed;
  readonly retention: Retention;
  readonly hold: RetentionHold;
  readonly settings: StoreSettings;
  readonly watch: ArrivalWatch;
  readonly stats: TableStats;
  /** Why nothing can be asked of ClickHouse; undefined where it can. */
  readonly whyUnusable: FolderCheck;
  /** Has ClickHouse compare what it has with its checksums. */
  readonly check: (signal: AbortSignal) => AsyncGenerator<CheckLine>;
  readonly readings: Readings;
  readonly now: () => number;
  /** Ends what the store does by itself, and its connections. */
  readonly end: () => Promise<void>;
}

/** An event store on ClickHouse, which any number of processes share. */
export class ClickhouseStore implements EventStore {
  readonly positions: FeedPositions;
  readonly alertClaim: AlertClaim;
  readonly #parts: ClickhouseParts;
  #closed: Promise<void> | undefined;

  constructor(parts: ClickhouseParts) {
    this.#parts = parts;
    this.positions = parts.positions;
    this.alertClaim = parts.alertClaim;
  }

  /** Says for people what `close` waits for. */
  get closingStep(): string {
    return 'the last insert, and the connections to ClickHouse';
  }

  async append(batch: EventBatch): Promise<AppendReceipt> {
    await this.#parts.setup.done();
    return await this.#parts.pipeline.append(batch);
  }

  async search(plan: SearchPlan, { signal }: SearchOptions = {}): Promise<SearchResult> {
    using reading = await this.#begin(signal);
    return await searchEvents(plan, this.#parts.source, reading.signal);
  }

  async explore(plan: ExplorePlan, { signal }: SearchOptions = {}): Promise<ExploreResult> {
    using reading = await this.#begin(signal);
    return await exploreEvents(plan, this.#parts.source, reading.signal);
  }

  async activeZones(window: TimeWindow, zones: ZoneSelection, { signal }: SearchOptions = {}): Promise<readonly ActiveZone[]> {
    using reading = await this.#begin(signal);
    return await activeZonesOf(window, zones, this.#parts.source, reading.signal);
  }

  async activeRules(window: TimeWindow, zones: ZoneSelection, { signal }: SearchOptions = {}): Promise<readonly ActiveRule[]> {
    using reading = await this.#begin(signal);
    return await activeRulesOf(window, zones, this.#parts.source, reading.signal);
  }

  async *readAll(plan: SearchPlan, { signal }: SearchOptions = {}): AsyncGenerator<RowPiece, void, void> {
    using reading = await this.#begin(signal);
    yield* readAllEvents(plan, this.#parts.source, reading.signal);
  }

  async readFeed(request: FeedRequest, { signal }: SearchOptions = {}): Promise<FeedPage> {
    using reading = await this.#begin(signal);
    return await this.#parts.feed.read(request, reading.signal);
  }

  mostEvents(zones: ZoneSelection): number {
    return this.#parts.stats.eventsOf(zones);
  }

  unreadableEvents(): number {
    return 0;
  }

  onEvents(listener: () => void): () => void {
    return this.#parts.watch.add(listener);
  }

  pendingBytes(): number {
    return this.#parts.pipeline.pendingBytes;
  }

  async sourceOffset(topic: string, partition: number): Promise<bigint | undefined> {
    await this.#parts.setup.done();
    return (await this.#parts.sourceOffsets.get(topic, partition))?.nextOffset;
  }

  async sourceTopicId(topic: string, partition: number): Promise<string | undefined> {
    await this.#parts.setup.done();
    return (await this.#parts.sourceOffsets.get(topic, partition))?.topicId;
  }

  get deadLetterIds(): DeadLetterIds {
    return sharedLetterIds;
  }

  async listDeadLetters(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    await this.#parts.setup.done();
    return await this.#parts.deadLetters.list(selection);
  }

  async removeDeadLetters(selection: DeadLetterSelection): Promise<number> {
    await this.#parts.setup.done();
    return await this.#parts.deadLetters.remove(selection);
  }

  async reasonsNotReady(): Promise<readonly string[]> {
    const { whyUnusable, pipeline } = this.#parts;
    const reason = (await whyUnusable()) ?? pipeline.failure?.message;
    return reason === undefined ? [] : [reason];
  }

  notes(): readonly string[] {
    const { hold, settings, clock } = this.#parts;
    const difference = settings.difference === undefined ? undefined : `nothing is dropped: ${settings.difference}`;
    return [hold.reason, difference, clock.note].filter((note) => note !== undefined);
  }

  /** ClickHouse compares the checksums of its parts. */
  async *check(): AsyncGenerator<CheckLine> {
    using reading = await this.#begin(undefined);
    yield* this.#parts.check(reading.signal);
  }

  counters(): StoreTotals {
    const { visibility, pipeline } = this.#parts;
    const { expiredEvents, storedEvents } = pipeline;
    return { expiredEvents, duplicateEvents: 0, storedEvents, lateEvents: visibility.lateEvents };
  }

  async stats(): Promise<StoreStats> {
    const { setup, visibility, stats, deadLetters } = this.#parts;
    await setup.done();
    await visibility.horizon();
    const { events, parts, bytes } = await stats.read();
    return {
      events,
      unflushedEvents: 0,
      segments: parts,
      segmentBytes: bytes,
      journalBytes: 0,
      deadLetters: await deadLetters.count(),
      unreadableEvents: 0,
      ...this.counters(),
      clockBehindMs: visibility.clockBehindMs,
    };
  }

  beginBackup(): Promise<StoreBackup> {
    return Promise.reject(new StoreError('backup_elsewhere', 'the events are in ClickHouse, which has its own backups'));
  }

  /** Drops what is past the retention, also where that is most of the events. This is for tests and tools. */
  async dropExpiredNow(): Promise<void> {
    const { setup, retention, now } = this.#parts;
    await setup.done();
    await retention.sweep(now(), 'caller');
  }

  close(): Promise<void> {
    this.#parts.readings.end(storeClosed());
    this.#closed ??= this.#parts.end();
    return this.#closed;
  }

  async #begin(signal: AbortSignal | undefined): Promise<Reading> {
    const reading = this.#parts.readings.begin(signal);
    try {
      await this.#parts.setup.done();
      reading.signal.throwIfAborted();
      return reading;
    } catch (error) {
      reading[Symbol.dispose]();
      throw error;
    }
  }
}

import type { FieldColumns } from '../query/batch-columns.ts';
import type { SearchPlan } from '../query/search-plan.ts';
import type { EventRow, SearchResult } from '../query/search-result.ts';

export interface SearchOptions {
  /** Aborting interrupts the running query; the search then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Where the next message of a Kafka partition is to be read from. */
export interface SourceOffset {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: bigint;
}

/** A message that cannot become an event, kept so that it can be looked at and replayed. */
export interface DeadLetter {
  /** All of the message, or its start. */
  readonly bytes: Uint8Array;
  /** The length and the SHA-256 of the whole message; null where `bytes` is all of it. */
  readonly cut: { readonly sizeBytes: number; readonly sha256: Uint8Array } | null;
  /** What is wrong, naming the field, its value and what is allowed. */
  readonly reason: string;
  /** `kafka`, `http` or `file`. */
  readonly source: string;
  readonly topic: string | null;
  readonly partition: number | null;
  readonly offset: bigint | null;
  /** The zone that its event would be in; null where none can be read. */
  readonly zoneId: number | null;
}

export interface StoredDeadLetter extends Omit<DeadLetter, 'cut'> {
  readonly id: number;
  readonly receivedAtMs: number;
  /** Of the whole message. */
  readonly sizeBytes: number;
  /** Of the whole message, in hexadecimal digits. */
  readonly sha256: string;
  /** Whether `bytes` is all of the message; only then can it be replayed. */
  readonly isWhole: boolean;
}

/** Some of the dead letters, by ascending id. */
export interface DeadLetterSelection {
  /** Those of the zones, or all, also those of no known zone. */
  readonly zones: readonly number[] | 'all';
  /** Only these; absent: any. */
  readonly ids?: readonly number[];
  /** Only those of a higher id. */
  readonly afterId?: number;
  readonly limit: number;
}

/**
 * Events as columns and where they came from. It goes into one journal, maybe with others: all of it is durable, or none.
 */
export interface EventBatch {
  /** The events without their logs. */
  readonly fields: FieldColumns;
  /** Their logs in the same order, newline-terminated, packed (see `query/packed-log.ts`). */
  readonly logs: readonly Uint8Array[];
  readonly eventCount: number;
  readonly sourceOffsets: readonly SourceOffset[];
  readonly deadLetters: readonly DeadLetter[];
  /** Events older than the retention: counted, not stored. */
  readonly expiredCount: number;
}

export interface AppendReceipt {
  readonly firstSequence: bigint;
  readonly eventCount: number;
  /** How many of the batch's events were stored already, or came in it before; null from a store that finds them later. */
  readonly duplicates: number | null;
  /** Places in the batch's `deadLetters` of those whose bytes are not kept, because the letters that are there use up their quota. */
  readonly deadLettersNotKept: readonly number[];
}

export interface FeedRequest {
  readonly zones: readonly number[] | 'all';
  /** Events of a higher sequence than this are read; 0 is before the first. */
  readonly afterSequence: bigint;
  /** At least 1. */
  readonly limit: number;
}

/** An event as the feed passes it on: JSON on one line, which most readers need no part of. */
export interface FeedLine {
  readonly sequence: bigint;
  /** Unix ms UTC: when its batch was taken in. */
  readonly ingestedAtMs: number;
  /** UTF-8. The event is in it from `start` up to `end`, and others of its page around it. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export interface FeedPage {
  /** By ascending sequence. */
  readonly lines: readonly FeedLine[];
  /** All events of the zones up to this sequence are in this page or before it: the next request goes on after it. */
  readonly lastSequence: bigint;
  /** Whether more events of the zones were there behind the page. It may end before the limit, so that its bytes stay few. */
  readonly more: boolean;
}

export interface EventStore {
  /**
   * Resolves once the batch is durable (journal synced) **and** searchable. Batches are applied in call order; several may be under way.
   * A rejected append stored nothing and moved no source offset. (Should the process die right then, a restart may find its journal whole
   * and have it after all, source offset included.)
   */
  append(batch: EventBatch): Promise<AppendReceipt>;
  search(plan: SearchPlan, options?: SearchOptions): Promise<SearchResult>;
  /**
   * Every event that matches the plan when the first of them is asked for, whatever its page and output: some thousand at a time, newest
   * first, then by `logId`. What they lie in is kept until the iteration ends or the signal aborts, which ends it with the signal's reason.
   * A slow iteration keeps no search waiting.
   */
  readAll(plan: SearchPlan, options?: SearchOptions): AsyncIterable<readonly EventRow[]>;
  /**
   * One page of the events in the order of their sequence, which is the order in which they became visible. Rejects with `StoreError`
   * (`overloaded`) where there is not enough memory for it, or too many wait for theirs: the same request may succeed a little later.
   */
  readFeed(request: FeedRequest, options?: SearchOptions): Promise<FeedPage>;
  /** 32 bits, drawn when the data folder was made, by which this store is told from others. */
  storeId(): number;
  /** The highest sequence that is visible; 0 before the first event. */
  lastSequence(): bigint;
  /**
   * Highest sequence of the zones that retention removed; 0 when it removed none. A cursor below it has missed events. With `afterRuns`,
   * only what it removed after so many of its runs counts.
   */
  expiredWatermark(zones: FeedRequest['zones'], afterRuns?: number): bigint;
  /** How many runs of the retention have dropped anything. */
  retentionRuns(): number;
  /** Calls `listener`, which must not throw, soon after more events became visible; returns how to stop that. */
  onEvents(listener: () => void): () => void;
  /** Bytes of events and dead letters handed to `append` that are not yet stored and searchable; sources pause above their limit. */
  pendingBytes(): number;
  /** The stored source offset of a partition, or undefined where nothing of it was ever stored. Includes batches not yet flushed. */
  sourceOffset(topic: string, partition: number): bigint | undefined;
  /** By ascending id; fewer than the limit where they are long, none where there are no more. */
  listDeadLetters(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]>;
  /** Removes dead letters for good; resolves with how many there were. */
  removeDeadLetters(selection: DeadLetterSelection): Promise<number>;
  /** Why the store does not work as it should at the moment, for people; empty when all is well. */
  problems(): Promise<readonly string[]>;
  stats(): StoreStats;
  close(): Promise<void>;
}

export interface StoreStats {
  readonly events: number;
  readonly unflushedEvents: number;
  readonly segments: number;
  /** The logs of their events included. */
  readonly segmentBytes: number;
  readonly journalBytes: number;
  readonly deadLetters: number;
  /** Small zones whose flushed rows are cached in memory, and the bytes that these are estimated to take. */
  readonly cachedZones: number;
  readonly cachedZoneBytes: number;
  readonly expiredEvents: number;
  readonly duplicateEvents: number;
  readonly nextSequence: bigint;
}

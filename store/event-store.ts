import type { FieldColumns } from '../query/batch-columns.ts';
import type { ExplorePlan } from '../query/plan/explore-plan.ts';
import type { SearchPlan, TimeWindow, ZoneSelection } from '../query/plan/search-plan.ts';
import type { ExploreResult, RowPiece, SearchResult } from '../query/plan/search-result.ts';
import type { WantedEvents } from '../query/plan/wanted-events.ts';
import type { DeadLetter, DeadLetterIds, DeadLetterSelection, StoredDeadLetter } from './dead-letter.ts';

export interface SearchOptions {
  /** Aborting interrupts the running query; the search then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A zone that has events in a window. */
export interface ActiveZone {
  readonly zoneId: number;
  /** Its events in the window, and the time of the last of them, Unix ms UTC. */
  readonly events: number;
  readonly lastMs: number;
}

/** A rule that has events in a window. */
export interface ActiveRule {
  readonly ruleId: string;
  /** That of most of its events, the smaller by code point of equals; empty where none of them has one. */
  readonly ruleName: string;
  /** Its events in the window. */
  readonly events: number;
}

/** The offset of the next message to read from a Kafka partition. */
export interface SourceOffset {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: bigint;
  /** The id that Kafka gave the topic when it was made, as Kafka writes it; absent where it is not known. */
  readonly topicId?: string;
}

/**
 * Events as columns, and the source offsets behind them. A batch goes into one journal, maybe with others, so all of it is durable or
 * none of it is.
 */
export interface EventBatch {
  /** The events without their logs. */
  readonly fields: FieldColumns;
  /** The logs of the events in the same order, each packed (`query/packed-log.ts`) and ended by a newline. */
  readonly logs: readonly Uint8Array[];
  readonly eventCount: number;
  readonly sourceOffsets: readonly SourceOffset[];
  readonly deadLetters: readonly DeadLetter[];
  /** Number of events that were older than the retention and are not stored. */
  readonly expiredCount: number;
}

export interface AppendReceipt {
  readonly eventCount: number;
  /** Number of events that were stored already, or come twice in the batch; null from a store that finds them later. */
  readonly duplicates: number | null;
  /** Indexes in the batch's `deadLetters` of letters whose bytes are not kept, because the quota is used up. */
  readonly deadLettersNotKept: readonly number[];
}

/** The most characters of the rows of a piece, with the bytes of their logs. A single row may have more. */
export const PIECE_BYTES = 4 * 1024 * 1024;

declare const position: unique symbol;

/**
 * How far a reader of the feed has come, and what it knows of the retention: a value that means something only to the store that gave it.
 */
export interface FeedPosition {
  readonly [position]: never;
}

/** A cursor whose reader has read events that the store does not have, because the store lost its last ones or is on a copy of a folder. */
export class CursorAhead {
  /** The end of the events that both reader and store have, where the store knows it; otherwise the position before the oldest event. */
  readonly goesOnAfter: FeedPosition;
  readonly isEndKnown: boolean;

  constructor(goesOnAfter: FeedPosition, { isEndKnown }: { readonly isEndKnown: boolean }) {
    this.goesOnAfter = goesOnAfter;
    this.isEndKnown = isEndKnown;
  }
}

/** A position, or an event of the feed. */
export type FeedPoint = FeedPosition | Pick<FeedLine, 'sequence'>;

/** Compares, moves and writes down the positions of one store. */
export interface FeedPositions {
  /** Below 0 where `one` comes before `other` in the feed, above 0 where it comes after, 0 at the same point. */
  compare(one: FeedPoint, other: FeedPoint): number;
  /** The position of the same reader when it has everything up to and with `to`; it never goes back. */
  advance(position: FeedPosition, to: FeedPoint): FeedPosition;
  /** The cursor of a position: a text that stays valid as long as the store exists. */
  encode(position: FeedPosition): string;
  /**
   * The position of a cursor. Where the store does not have all that its reader has read, the position from which the reader skips nothing;
   * otherwise in words what is wrong with the text.
   */
  decode(text: string): Promise<FeedPosition | CursorAhead | string>;
  /** The position before the oldest event that is kept. */
  oldest(): Promise<FeedPosition>;
  /** The position after the newest event that is visible. */
  newest(): Promise<FeedPosition>;
  /** A position before every event that was taken in at this time, Unix ms UTC, or later. */
  at(timeMs: number): Promise<FeedPosition>;
  /**
   * Where a reader goes on that has missed events of the zones, because the retention removed them behind its position; undefined where it
   * has missed none.
   */
  afterExpiry(zones: FeedRequest['zones'], position: FeedPosition): Promise<FeedPosition | undefined>;
}

export interface FeedRequest extends WantedEvents {
  /** Only events behind it are read. */
  readonly after: FeedPosition;
  /** At least 1. */
  readonly limit: number;
}

/**
 * An event of the feed as JSON on one line, which most readers pass on without reading it. Its log is the last member, unless logs are left
 * out.
 */
export interface FeedLine {
  /** The number of the event in the order of the feed. */
  readonly sequence: bigint;
  /** Unix ms UTC at which its batch was taken in. */
  readonly ingestedAtMs: number;
  /** UTF-8. The event is at `start` up to `end`; other events of its page are around it. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export interface FeedPage {
  /** By ascending sequence. */
  readonly lines: readonly FeedLine[];
  /** All wanted events up to here are in this page or before it: the next request goes on after it. */
  readonly end: FeedPosition;
  /**
   * Whether the store had more events of the zones, whether or not they match the condition. A page may end before its limit, so that its
   * bytes and the events that are looked at for it stay few. With a condition it may have no event and yet not be the last.
   */
  readonly more: boolean;
  /** About how many events of the zones were looked at for the page. */
  readonly lookedAt: number;
  /** Every wanted event that was taken in before this time, Unix ms UTC, is in this page or before it. It may go back with a clock. */
  readonly completeToMs: number;
  /** The most events of the zones that belong into this page and cannot be read; 0 almost always. */
  readonly unreadable: number;
}

/** What a check of all files tells while it goes on; the summary comes last. */
export type CheckLine =
  | { readonly kind: 'progress'; readonly bytes: number; readonly totalBytes: number }
  | {
      readonly kind: 'fault';
      /** Its path in the data folder. */
      readonly file: string;
      readonly fault: string;
      /** At most so many events are lost, or are without their logs; null where that is not known. */
      readonly events: number | null;
    }
  | {
      readonly kind: 'summary';
      readonly folder: string;
      readonly files: number;
      readonly bytes: number;
      readonly events: number;
      readonly faults: number;
    };

/** A program that follows rules of alerts. */
export interface AlertFollower {
  /** It stays the same when the program starts again. */
  readonly id: string;
  /** Says for people which program it is. */
  readonly program: string;
}

/** Who follows the rules of alerts of a store, and since when: Unix ms UTC by the clock of the store. */
export interface HeldClaim extends AlertFollower {
  readonly sinceMs: number;
}

/**
 * The claim of one of the programs of a store to follow rules of alerts. It is against mistakes and no fence: of programs that are cut off
 * from the store or very slow, two may believe for a while that they have it.
 */
export interface AlertClaim {
  /**
   * Takes the claim where it is free, was not renewed for `CLAIM_EXPIRES_MS`, or is the program's already, which renews it. Resolves with
   * null where the program has it then, otherwise with who has it. Rejects with `StoreError`.
   */
  take(own: AlertFollower): Promise<HeldClaim | null>;
  /** Gives the claim back, if the program has it. Rejects with `StoreError`. */
  release(own: AlertFollower): Promise<void>;
}

/** A claim that was not renewed for so long may be taken by another program. */
export const CLAIM_EXPIRES_MS = 60_000;

export interface EventStore {
  /**
   * Resolves once the batch is durable **and** searchable. Batches are applied in call order; several may be under way. A rejected append
   * stored nothing and moved no source offset, except where the process dies right then: a restart may find all of the batch on disk. It
   * rejects with `StoreError` `append_failed`, `unavailable` or `closed`, and never because the store has too much to do: the sources look
   * at `pendingBytes` and wait.
   */
  append(batch: EventBatch): Promise<AppendReceipt>;
  /**
   * Rows come in pieces of a few mebibytes. The first is read when this resolves; each other one when it is asked for, from the same
   * snapshot. The files that they are in stay until the last one is read, or the iteration or the signal ends.
   */
  search(plan: SearchPlan, options?: SearchOptions): Promise<SearchResult>;
  /** Answers all of the plan from one snapshot. */
  explore(plan: ExplorePlan, options?: SearchOptions): Promise<ExploreResult>;
  /** The zones that have events in the window, by number of events descending, then by zone. */
  activeZones(window: TimeWindow, zones: ZoneSelection, options?: SearchOptions): Promise<readonly ActiveZone[]>;
  /** The rules that have events in the window, at most `MAX_ACTIVE_RULES`, by number of events descending, then by id. */
  activeRules(window: TimeWindow, zones: ZoneSelection, options?: SearchOptions): Promise<readonly ActiveRule[]>;
  /**
   * Every event that matches the plan's zone, window and condition at the first request for events: some thousand at a time, newest first,
   * then by `logId`. Each request for more is one read of the store, and between two of them nothing is read. The files that the events are
   * in stay until the iteration ends, or the signal aborts it with its reason.
   */
  readAll(plan: SearchPlan, options?: SearchOptions): AsyncIterable<RowPiece>;
  /**
   * One page of the events in the order in which they became visible. Rejects with `StoreError` (`overloaded`) where memory is short or too
   * many readers wait; the same request may succeed a little later.
   */
  readFeed(request: FeedRequest, options?: SearchOptions): Promise<FeedPage>;
  readonly positions: FeedPositions;
  /** The most events of the zones that a read of the window may have to look at. */
  mostEvents(zones: ZoneSelection, window: TimeWindow): number;
  /**
   * The most events of the zones in the window that cannot be read, because a file of the store is damaged or missing; 0 almost always. An
   * answer that was given before may lack so many.
   */
  unreadableEvents(zones: ZoneSelection, window: TimeWindow): number;
  /** Calls `listener`, which must not throw, soon after more events became visible; returns the function that ends this. */
  onEvents(listener: () => void): () => void;
  /** Bytes of events and dead letters given to `append` that are not yet searchable. Sources pause above a limit, which is theirs. */
  pendingBytes(): number;
  /** The stored source offset of a partition; undefined where nothing of it was ever stored. Batches that are not flushed count. */
  sourceOffset(topic: string, partition: number): Promise<bigint | undefined>;
  /** The id of the topic that the stored source offset of a partition is of; undefined where it is not known. */
  sourceTopicId(topic: string, partition: number): Promise<string | undefined>;
  readonly deadLetterIds: DeadLetterIds;
  /** Null where the store has one program alone. */
  readonly alertClaim: AlertClaim | null;
  /** Lists letters by ascending id: fewer than the limit where they are long, none where there are no more. */
  listDeadLetters(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]>;
  /** Removes dead letters for good; resolves with their number. */
  removeDeadLetters(selection: DeadLetterSelection): Promise<number>;
  /** Says for people why the store does not take in or flush events at the moment; empty when it does. `/readyz` shows them. */
  reasonsNotReady(): Promise<readonly string[]>;
  /** Says for people what they have to look at although the store takes in and answers. `/readyz` shows it, too. */
  notes(): readonly string[];
  /** Reads all files and compares them with their checksums. What comes and goes meanwhile is no fault. Ending the loop ends it. */
  check(): AsyncGenerator<CheckLine>;
  /** What this process has counted, whether or not what the store is on can be asked. */
  counters(): StoreTotals;
  stats(): Promise<StoreStats>;
  /**
   * Holds the files of one moment, with every event that was acknowledged before, and copies of the SQLite files `earlier`, of which some
   * may not be there, of a moment before that. Rejects with `StoreError`: `backup_failed`, `backup_taken` while another one is held,
   * `backup_elsewhere` where the files are not this program's, `closed`.
   */
  beginBackup(earlier?: readonly string[]): Promise<StoreBackup>;
  close(): Promise<void>;
  /** Says for people what `close` waits for at the moment. */
  readonly closingStep: string;
}

/** A file of a backup. */
export interface BackupFile {
  /** Its path in a data folder, with slashes. */
  readonly name: string;
  readonly bytes: number;
  /** Where it can be read. */
  readonly path: string;
}

/** The files of a store at one moment, which stay as they are until it is disposed. */
export interface StoreBackup extends AsyncDisposable {
  readonly storeId: number;
  /** How many events they hold. */
  readonly events: number;
  /** The files whose names are never used for another file. */
  readonly published: readonly BackupFile[];
  /** The files whose names are used again by later backups. The last one, the catalog, says which other files belong to the backup. */
  readonly databases: readonly BackupFile[];
  /** A folder for further copies, which goes with the backup. */
  readonly copies: string;
}

/** Totals that only grow while a process runs. */
export interface StoreTotals {
  readonly expiredEvents: number;
  readonly duplicateEvents: number;
  /** How many events were ever stored: those that have expired since count, too. */
  readonly storedEvents: number;
  /** How many events readers of the feed miss, because the clock of a database had stepped back when they were stored; 0 without one. */
  readonly lateEvents: number;
}

export interface StoreStats extends StoreTotals {
  readonly events: number;
  readonly unflushedEvents: number;
  readonly segments: number;
  /** Size of the segments and the blob files. */
  readonly segmentBytes: number;
  readonly journalBytes: number;
  readonly deadLetters: number;
  /** The most events that cannot be read, because their files are damaged or missing. */
  readonly unreadableEvents: number;
  /** How far the clock of a database is behind, in milliseconds; 0 below a second, and without one. */
  readonly clockBehindMs: number;
}

/**
 * The settings that all programs of a shared store have alike, by their names in the environment. Each of them drops what is past its own
 * retention, also of what the others have stored, and sees only the running inserts of its own user.
 */
export const STORE_SETTINGS = ['RETENTION_HOURS', 'DEAD_LETTER_DAYS', 'DEAD_LETTER_MAX_MB', 'CLICKHOUSE_USER'] as const;

export type StoreSetting = (typeof STORE_SETTINGS)[number];

/** Logs for the operator; a logger of pino fits. */
export interface StoreLogger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export const silentLogger: StoreLogger = { info: () => {}, warn: () => {}, error: () => {} };

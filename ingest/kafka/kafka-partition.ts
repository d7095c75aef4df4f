import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import type { PartitionRecords } from '../event/batch-builder.ts';
import { copiesOf, type MappedMessages, type MessageCopies } from '../upload/mapped-messages.ts';
import { type BlockedPartition, blockedAt, type SkipOutcome } from './blocked-partition.ts';
import type { KafkaAppender } from './kafka-appender.ts';
import type { KafkaLogger } from './kafka-connection.ts';
import type { BatchFault } from './record-set.ts';
import { listTopics } from './topic-metadata.ts';

/** One assigned partition and how far it is read, which is further than it is stored. */
export interface PartitionCursor {
  readonly topic: string;
  readonly partition: number;
  /** The offset that the next fetch has to ask for; undefined until `startPartitions` has checked it. No other fetch is taken. */
  next: bigint | undefined;
  /** The id of the topic, which its offsets are stored with; undefined where it is not known. */
  topicId: string | undefined;
  /** The broker's newest offset, plus one. */
  end: bigint;
  /** Whether reading is paused because too many bytes wait for the store. */
  paused: boolean;
  /** Set while reading is paused at a batch that cannot be decoded. */
  block: WaitingBlock | null;
  /** Set while the last fetches told an end that cannot be read to. */
  stable: StableOffset | null;
}

/** Where a partition can be read no further, because a transaction is open. Unix milliseconds. */
interface StableOffset {
  /** The first offset of the oldest open transaction, which is read together with what is behind it. */
  readonly offset: bigint;
  /** The first fetch and the last one that told this offset. */
  readonly sinceMs: number;
  readonly seenMs: number;
}

/** A block, with what ends its wait. */
export interface WaitingBlock {
  readonly place: BlockedPartition;
  readonly retry: NodeJS.Timeout | undefined;
  /** A skip that was asked for. It is carried out with the next fetch, because the bytes of the batch are not held. */
  skip: PendingSkip | null;
}

export interface PendingSkip {
  readonly to: bigint | null;
  readonly settle: PromiseWithResolvers<SkipOutcome>;
}

export function partitionCursor(topic: string, partition: number): PartitionCursor {
  return { topic, partition, next: undefined, topicId: undefined, end: 0n, paused: false, block: null, stable: null };
}

/** Which offsets some messages have, which may have gaps. */
type Offsets = Pick<PartitionRecords, 'base' | 'count' | 'deltas'>;

/** kafkajs's batch, with `fetchedOffset` (the offset that the fetch asked for) and `rawMessages`, which kafkajs's types lack. */
export interface FetchedBatch<Records extends Offsets = PartitionRecords> {
  readonly fetchedOffset: string;
  /** Everything that came, control records and aborted messages included. `patchKafkajs` adds how far the broker lets it be read. */
  readonly rawMessages: readonly unknown[] & { readonly lastStableOffset?: string };
  readonly highWatermark: string;
  readonly messages: readonly { readonly read: () => Records | BatchFault }[];
  /** The last offset that the fetch covered, control records and aborted messages included. */
  lastOffset(): string;
}

export type TakenBatch =
  /** `next` is the offset after everything that the fetch covered. */
  | { readonly kind: 'taken'; readonly messages: number; readonly next: bigint }
  /** The same, up to a batch that cannot be decoded, whose bytes are `bytes`. */
  | { readonly kind: 'blocked'; readonly messages: number; readonly next: bigint; readonly block: BlockedPartition; readonly bytes: Buffer }
  /** The cursor has no offset yet: the batch belongs to an earlier assignment. */
  | { readonly kind: 'early' }
  /** The fetch asked for another offset: kafkajs changes it on its own when the broker says that it is out of range. */
  | { readonly kind: 'strayed'; readonly fetched: bigint; readonly expected: bigint };

/**
 * Passes on the records of a fetch that continues the cursor, each offset once, and advances the cursor. Offsets may have gaps (control
 * records, aborted transactions, compaction), so the offset that the fetch asked for decides whether it continues the cursor. An event that
 * was sent twice has two offsets; `loadJournal` of the store finds it by its log id. `add` gets the records from an index on.
 */
export function takeBatch<Records extends Offsets>(
  cursor: PartitionCursor,
  batch: FetchedBatch<Records>,
  add: (records: Records, from: number) => void,
): TakenBatch {
  if (cursor.next === undefined) {
    return { kind: 'early' };
  }
  const fetched = BigInt(batch.fetchedOffset);
  if (fetched !== cursor.next) {
    return { kind: 'strayed', fetched, expected: cursor.next };
  }
  let next = cursor.next;
  let taken = 0;
  for (const message of batch.messages) {
    const records = message.read();
    if ('reason' in records) {
      cursor.next = next;
      const block = blockedAt(cursor.topic, cursor.partition, next, cursor.end, records);
      return { kind: 'blocked', messages: taken, next, block, bytes: records.bytes };
    }
    const from = firstFrom(records, next);
    if (from < records.count) {
      add(records, from);
      taken += records.count - from;
      next = records.base + BigInt(records.deltas[records.count - 1] as number) + 1n;
    }
  }
  const after = BigInt(batch.lastOffset()) + 1n;
  next = after > next ? after : next;
  cursor.next = next;
  return { kind: 'taken', messages: taken, next };
}

/**
 * A batch in parts that follow one another as fetches do, each with its records mapped when it is asked for. The last part has what is
 * behind the records, or a batch of records that cannot be decoded.
 */
export async function* mappedParts(
  batch: FetchedBatch,
  map: (copies: MessageCopies) => AsyncIterable<MappedMessages>,
): AsyncGenerator<FetchedBatch<MappedMessages>> {
  const { rawMessages, highWatermark } = batch;
  let next = BigInt(batch.fetchedOffset);
  const part = (read: readonly (MappedMessages | BatchFault)[], last: string): FetchedBatch<MappedMessages> => ({
    ...{ fetchedOffset: String(next), rawMessages, highWatermark },
    messages: read.map((one) => ({ read: () => one })),
    lastOffset: () => last,
  });
  for (const message of batch.messages) {
    const records = message.read();
    if ('reason' in records) {
      yield part([records], batch.lastOffset());
      return;
    }
    // All are copied at once, because the records are there only until those of another batch are read.
    for (const copies of copiesOf(records, firstFrom(records, next))) {
      for await (const mapped of map(copies)) {
        const last = mapped.base + BigInt(mapped.deltas[mapped.count - 1] as number);
        yield part([mapped], String(last));
        next = last + 1n;
      }
    }
  }
  yield part([], batch.lastOffset());
}

/** The index of the first record at the offset or behind it. */
function firstFrom({ base, count, deltas }: Offsets, offset: bigint): number {
  const delta = Number(offset - base);
  let index = 0;
  while (index < count && (deltas[index] as number) < delta) index++;
  return index;
}

export function logStrayed(
  logger: KafkaLogger,
  { topic, partition }: PartitionCursor,
  taken: Extract<TakenBatch, { kind: 'strayed' }>,
): void {
  const details = { topic, partition, fetched: String(taken.fetched), expected: String(taken.expected) };
  logger.warn(details, 'kafkajs fetched from another offset than the next one; the offset is checked against the topic again');
}

/** The offsets of a partition: `earliest` is the first one kept, `next` the one that the next message will get. */
interface OffsetRange {
  readonly earliest: bigint;
  readonly next: bigint;
}

export type StartOffset =
  /** The offset that the store has. */
  | { readonly kind: 'stored'; readonly offset: bigint }
  /** The stored offset is of a topic with another id: the topic was made anew, or is in another cluster. */
  | { readonly kind: 'anotherTopic'; readonly offset: bigint }
  /** The store has nothing of the partition. */
  | { readonly kind: 'new'; readonly offset: bigint }
  /** Kafka has deleted the messages at the stored offset; `offset` is the earliest that is left. */
  | { readonly kind: 'overtaken'; readonly offset: bigint }
  /** The stored offset is past the end: the topic was made anew under brokers without ids, or the broker lost its newest messages. */
  | { readonly kind: 'pastEnd'; readonly offset: bigint };

/** A stored offset, with the id of the topic that it is of. */
interface StoredPlace {
  readonly offset: bigint;
  readonly topicId: string | undefined;
}

/**
 * Chooses the offset to read a partition from. An offset that the topic does not have leads to the earliest, never to the latest. `topicId`
 * is undefined where the brokers tell none; a stored offset without one counts for any topic.
 */
export function startOffset(place: StoredPlace | undefined, range: OffsetRange, topicId: string | undefined): StartOffset {
  if (place === undefined) {
    return { kind: 'new', offset: range.earliest };
  }
  if (isAnotherId(topicId, place.topicId)) {
    return { kind: 'anotherTopic', offset: range.earliest };
  }
  const { offset: stored } = place;
  if (stored < range.earliest) {
    return { kind: 'overtaken', offset: range.earliest };
  }
  return stored > range.next ? { kind: 'pastEnd', offset: range.earliest } : { kind: 'stored', offset: stored };
}

/** An id that is not known may be any. */
function isAnotherId(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/**
 * A broker that has just started may report an end that is too low for a moment, and one may know the id of a topic that was made anew
 * a moment before it serves that topic. So both are checked twice.
 */
const SECOND_CHECK_MS = 2_000;
const RETRY_MS = 500;

export interface StartOptions {
  /** The wait before the first check. */
  readonly afterMs: number;
  readonly admin: Admin;
  readonly store: EventStore;
  readonly logger: KafkaLogger;
  readonly appender: Pick<KafkaAppender, 'drain' | 'moveTo' | 'flushWhenDue'>;
  /** The ids of the topics, as far as they are known. */
  readonly topicIds: ReadonlyMap<string, string | undefined>;
  /** False once the partition was assigned anew, or the session is over. */
  readonly isCurrent: (cursor: PartitionCursor) => boolean;
  /** Called for each stored offset that the topic does not have, or that is of another one. */
  readonly onOutOfRange: () => void;
  /** Starts reading the partition at the offset. */
  readonly begin: (cursor: PartitionCursor, offset: bigint) => void;
}

/**
 * Starts each partition at its stored offset, once that is checked against the topic's id and the offsets that it has. An offset of another
 * topic, or one that the topic does not have, is logged, and reading starts at the earliest. Retries until all partitions are started or no
 * longer current.
 */
export async function startPartitions(cursors: readonly PartitionCursor[], options: StartOptions): Promise<void> {
  const checkedOnce = new Set<PartitionCursor>();
  let left = cursors;
  await delay(options.afterMs);
  while (left.length > 0) {
    try {
      // All messages read so far are stored then, so the store's source offsets are up to date.
      await options.appender.drain();
      const ranges = await offsetRanges(options.admin, left);
      const told = await listTopics(options.admin);
      const stored = await Promise.all(left.map((cursor) => storedPlace(options.store, cursor)));
      left = left.filter((cursor, index) => {
        if (!options.isCurrent(cursor)) return false;
        // The session ends as soon as the source knows of the other topic.
        const isOtherTopic = isAnotherId(told.get(cursor.topic), options.topicIds.get(cursor.topic));
        return isOtherTopic || !startPartition(cursor, stored[index], ranges.get(cursor), checkedOnce, options);
      });
      if (left.length > 0) {
        await delay(SECOND_CHECK_MS);
      }
    } catch (error) {
      left = left.filter(options.isCurrent);
      if (left.length > 0) {
        options.logger.debug({ err: error }, 'the offset ranges of the assigned Kafka partitions cannot be had yet');
        await delay(RETRY_MS);
      }
    }
  }
}

async function storedPlace(store: EventStore, { topic, partition }: PartitionCursor): Promise<StoredPlace | undefined> {
  const [offset, topicId] = await Promise.all([store.sourceOffset(topic, partition), store.sourceTopicId(topic, partition)]);
  return offset === undefined ? undefined : { offset, topicId };
}

/** Returns whether the partition is started. */
function startPartition(
  cursor: PartitionCursor,
  stored: StoredPlace | undefined,
  range: OffsetRange | undefined,
  checkedOnce: Set<PartitionCursor>,
  { topicIds, logger, appender, onOutOfRange, begin }: StartOptions,
): boolean {
  if (range === undefined) {
    return false;
  }
  const { topic, partition } = cursor;
  const topicId = topicIds.get(topic);
  const start = startOffset(stored, range, topicId);
  if ((start.kind === 'pastEnd' || start.kind === 'anotherTopic') && !checkedOnce.has(cursor)) {
    checkedOnce.add(cursor);
    return false;
  }
  cursor.topicId = topicId ?? stored?.topicId;
  if (stored !== undefined) {
    if (start.kind !== 'stored') {
      onOutOfRange();
      logOutOfRange(logger, cursor, stored, start, range);
    }
    if (cursor.topicId !== stored.topicId) {
      // At once, so that a partition without new messages has its id before its topic is made anew.
      appender.moveTo(topic, partition, start.offset, cursor.topicId);
      appender.flushWhenDue();
    }
  }
  begin(cursor, start.offset);
  return true;
}

function logOutOfRange(
  logger: KafkaLogger,
  { topic, partition, topicId }: PartitionCursor,
  stored: StoredPlace,
  { kind }: StartOffset,
  range: OffsetRange,
): void {
  const details = { topic, partition, stored: String(stored.offset), earliest: String(range.earliest), end: String(range.next) };
  if (kind === 'anotherTopic') {
    const ids = { storedTopicId: stored.topicId, topicId };
    const offset = `the stored offset ${stored.offset} of topic ${topic} partition ${partition}`;
    const what = `${offset} counts no more: it is of a Kafka topic with the id ${stored.topicId}, and the topic has the id ${topicId}`;
    logger.warn({ ...details, ...ids }, `${what}, so it was made anew or is in another cluster; reading goes on from its earliest`);
  } else if (kind === 'overtaken') {
    logger.error(details, 'Kafka has deleted messages that were not read yet; reading goes on from the earliest that is left');
  } else {
    const what = 'the Kafka topic ends before the stored offset, so it was made anew or has lost messages';
    logger.error(details, `${what}; reading goes on from its earliest`);
  }
}

/** The offsets that the partitions have; without those that the brokers do not name. */
async function offsetRanges(admin: Admin, cursors: readonly PartitionCursor[]): Promise<Map<PartitionCursor, OffsetRange>> {
  const ranges = new Map<PartitionCursor, OffsetRange>();
  for (const topic of new Set(cursors.map((cursor) => cursor.topic))) {
    const offsets = await admin.fetchTopicOffsets(topic);
    for (const cursor of cursors) {
      const found = cursor.topic === topic ? offsets.find(({ partition }) => partition === cursor.partition) : undefined;
      if (found !== undefined) {
        ranges.set(cursor, { earliest: BigInt(found.low), next: BigInt(found.high) });
      }
    }
  }
  return ranges;
}

/** Asks for the ends of the partitions that wait at a batch, which are not fetched from, so that their lag is true. */
export async function seekEnds(
  cursors: Iterable<PartitionCursor>,
  { admin, logger }: Pick<StartOptions, 'admin' | 'logger'>,
): Promise<void> {
  const blocked = [...cursors].filter(({ block }) => block !== null);
  try {
    for (const [cursor, { next }] of await offsetRanges(admin, blocked)) cursor.end = next;
  } catch (error) {
    logger.debug({ err: error }, 'the ends of the Kafka partitions that wait cannot be had yet');
  }
}

import type { Admin, Batch, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import type { PartitionRecords } from '../event/batch-builder.ts';
import { MAX_PENDING_BYTES } from '../event/pending-appends.ts';
import type { MappedMessages, MessageMapper } from '../upload/mapped-messages.ts';
import { BLOCKED_RETRY_MS, type BlockedPartition, explainBlock, type SkipOutcome, skippedReason, skipTarget } from './blocked-partition.ts';
import { type HangingTransaction, hangingTransactions, noteEnds } from './hanging-transaction.ts';
import type { KafkaAppender, KafkaCounters } from './kafka-appender.ts';
import type { KafkaLogger } from './kafka-connection.ts';
import { KafkaRefused } from './kafka-fault.ts';
import {
  type FetchedBatch,
  logStrayed,
  mappedParts,
  type PartitionCursor,
  partitionCursor,
  seekEnds,
  startPartitions,
  type TakenBatch,
  takeBatch,
  type WaitingBlock,
} from './kafka-partition.ts';
import { OffsetCommits } from './offset-commits.ts';
import { offsetsSince, type RewoundPartition, rewoundPartitions } from './rewound-partition.ts';

const COMMIT_INTERVAL_MS = 5_000;
const RESUME_INTERVAL_MS = 50;
/** The interval of a member's heartbeats, which show that the brokers answer. */
const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 5_000;

export interface KafkaSessionOptions {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly groupId: string;
  /** The names of the topics, with their ids where they are known. The session ends when they change. */
  readonly topics: ReadonlyMap<string, string | undefined>;
  /** What maps the records of a topic; null: its messages are events. */
  readonly mapperOf: (topic: string) => MessageMapper | null;
  readonly store: EventStore;
  readonly appender: KafkaAppender;
  readonly counters: KafkaCounters;
  readonly now: () => number;
  readonly logger: KafkaLogger;
  /** Replaces the wait at a batch that cannot be decoded. */
  readonly blockedRetryMs?: number;
}

/**
 * One membership of the consumer group with one set of topics, from joining to leaving. The group only assigns partitions. The store has
 * the offsets to read them from; the offsets committed to the group are for monitoring tools.
 */
export class KafkaSession {
  readonly #options: KafkaSessionOptions;
  readonly #consumer: Consumer;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #commits: OffsetCommits;
  readonly #broken = new AbortController();
  #cursors = new Map<string, PartitionCursor>();
  #joined = false;
  #over = false;
  #lastAnswerMs = 0;

  constructor(options: KafkaSessionOptions) {
    this.#options = options;
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      // The minimum that brokers allow by default. After a crash, the group waits this long for the lost member.
      sessionTimeout: 6_000,
      rebalanceTimeout: 10_000,
      heartbeatInterval: HEARTBEAT_MS,
      maxBytesPerPartition: 1024 * 1024,
      maxWaitTimeInMs: 100,
      metadataMaxAge: 15_000,
      allowAutoTopicCreation: false,
      // The source starts the next session, after it has listed the topics again.
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4, restartOnFailure: async () => false },
    });
    this.#commits = new OffsetCommits({ ...options, consumer: this.#consumer });
  }

  /** Aborts when the session fails, with the error as its reason. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Says for people why no events flow at the moment; empty while they do. */
  get reasonsNotReady(): readonly string[] {
    if (!this.#joined) {
      return [`joining the Kafka consumer group ${this.#options.groupId}`];
    }
    const silentMs = this.#options.now() - this.#lastAnswerMs;
    if (silentMs > SILENCE_MS) {
      return [`the Kafka brokers have not answered for ${Math.round(silentMs / 1000)} s`];
    }
    const waiting = [...this.#cursors.values()].filter(({ next }) => next === undefined).length;
    return waiting === 0 ? [] : [`${waiting} Kafka partitions wait for their offsets to be checked`];
  }

  /** The number of unread messages, as of the last fetches. */
  get lag(): number {
    let lag = 0;
    for (const { next, end } of this.#cursors.values()) {
      lag += next !== undefined && end > next ? Number(end - next) : 0;
    }
    return lag;
  }

  /** The partitions that wait at a batch that cannot be decoded. The others are read. */
  get blocked(): readonly BlockedPartition[] {
    return [...this.#cursors.values()].flatMap(({ block }) => (block === null ? [] : [block.place]));
  }

  /** The transactions that keep partitions from being read to their end. */
  get hanging(): readonly HangingTransaction[] {
    return hangingTransactions(this.#cursors.values());
  }

  /**
   * Goes past the batch that a partition waits at, and leaves it as a dead letter. Resolves when that is stored; where the batch can be
   * decoded at last, nothing is skipped. Rejects with KafkaRefused.
   */
  async skip(topic: string, partition: number, offset: bigint, to: bigint | null): Promise<SkipOutcome> {
    const cursor = this.#cursors.get(keyOf(topic, partition));
    const what = `topic ${topic} partition ${partition}`;
    if (cursor === undefined) throw new KafkaRefused(`${what} is not read here; allowed: a partition that /readyz names`);
    const { block, next } = cursor;
    if (block === null || next === undefined) {
      throw new KafkaRefused(`${what} waits at no batch, and is read up to offset ${next ?? '(not known yet)'}; nothing is skipped`);
    }
    if (block.place.offset !== offset) throw new KafkaRefused(`${what} waits at offset ${next}, not ${offset}; nothing is skipped`);
    if (block.skip !== null) throw new KafkaRefused(`${what} is being skipped already`);
    skipTarget(block.place, cursor.end, to);
    block.skip = { to, settle: Promise.withResolvers<SkipOutcome>() };
    this.#begin(cursor, next);
    return await block.skip.settle.promise;
  }

  /**
   * Reads the partitions of a topic again from their first messages of a time on. Resolves when the store has the new offsets. Rejects with
   * KafkaRefused.
   */
  async readAgain(topic: string, sinceMs: number): Promise<RewoundPartition[]> {
    const { admin, appender } = this.#options;
    const read = () => [...this.#cursors.values()].filter((cursor) => cursor.topic === topic);
    if (read().length === 0) throw new KafkaRefused(`topic ${topic} is not read here; allowed: a topic of KAFKA_TOPICS`);
    const since = await offsetsSince(admin, topic, sinceMs);
    if (this.#over) throw new KafkaRefused('the brokers are connected to anew; try again');
    const cursors = read();
    const rewound = rewoundPartitions(topic, cursors, since);
    if (rewound.length === 0) return [];
    const back = cursors.filter((cursor) => rewound.some(({ partition }) => partition === cursor.partition));
    for (const cursor of back) {
      // What is fetched from now on is from behind the new offset.
      cursor.next = undefined;
      this.#unblock(cursor);
      cursor.block = null;
      this.#consumer.pause([{ topic, partitions: [cursor.partition] }]);
    }
    try {
      const topicIdOf = (partition: number) => this.#cursors.get(keyOf(topic, partition))?.topicId;
      const places = rewound.map(({ partition, from }) => ({ partition, nextOffset: from, topicId: topicIdOf(partition) }));
      await appender.moveBack(topic, places);
      return rewound;
    } finally {
      this.#restart(back.filter((cursor) => this.#cursors.get(keyOf(topic, cursor.partition)) === cursor));
    }
  }

  async start(): Promise<void> {
    const { CRASH, GROUP_JOIN, HEARTBEAT } = this.#consumer.events;
    this.#consumer.on(CRASH, ({ payload }) => this.#broken.abort(payload.error));
    this.#consumer.on(HEARTBEAT, () => this.#noteAnswer());
    this.#consumer.on(GROUP_JOIN, ({ payload }) => this.#assigned(payload.memberAssignment));
    await this.#consumer.connect();
    // `fromBeginning`, because kafkajs falls back to the latest offset otherwise, if an offset is out of range.
    await this.#consumer.subscribe({ topics: [...this.#options.topics.keys()], fromBeginning: true });
    if (this.#over) {
      // kafkajs may have connected after `stop` had disconnected it, and would join the group now.
      await this.#consumer.disconnect();
      return;
    }
    await this.#consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async (payload) => this.#take(payload) });
    // kafkajs resolves also where it could not join; `stop` has been called by then, or will be.
    if (this.#over || this.#broken.signal.aborted) {
      return;
    }
    this.#timers.push(
      setInterval(() => this.#resumePaused(), RESUME_INTERVAL_MS),
      setInterval(() => void this.#commits.commit(this.#cursors.values()), COMMIT_INTERVAL_MS),
      setInterval(() => void seekEnds(this.#cursors.values(), this.#options), COMMIT_INTERVAL_MS),
    );
  }

  /** Leaves the group. The appender keeps the messages that are not appended yet. */
  async stop(): Promise<void> {
    this.#over = true;
    this.#timers.forEach(clearInterval);
    for (const cursor of this.#cursors.values()) this.#unblock(cursor);
    await this.#consumer.disconnect();
  }

  /** Stops reading at once, and starts every partition again at its stored offset after a while. */
  rewind(afterMs: number): void {
    this.#restart([...this.#cursors.values()], afterMs);
  }

  #noteAnswer(): void {
    this.#lastAnswerMs = this.#options.now();
  }

  /**
   * kafkajs calls this while it joins, before it fetches from the new assignment. What is collected is stored, because its topic may be
   * deleted.
   */
  #assigned(assignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.#over) return;
    this.#joined = true;
    this.#noteAnswer();
    for (const cursor of this.#cursors.values()) this.#unblock(cursor);
    this.#cursors = new Map();
    this.#restart(Object.entries(assignment).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition }))));
  }

  /** Pauses the partitions until the start offset of each is checked. */
  #restart(partitions: readonly { readonly topic: string; readonly partition: number }[], afterMs = 0): void {
    const { admin, topics, store, counters, logger, appender } = this.#options;
    const cursors = partitions.map(({ topic, partition }) => partitionCursor(topic, partition));
    for (const cursor of cursors) {
      const before = this.#cursors.get(keyOf(cursor.topic, cursor.partition));
      if (before !== undefined) this.#unblock(before);
      this.#cursors.set(keyOf(cursor.topic, cursor.partition), cursor);
      this.#consumer.pause([{ topic: cursor.topic, partitions: [cursor.partition] }]);
    }
    void startPartitions(cursors, {
      afterMs,
      admin,
      store,
      logger,
      appender,
      topicIds: topics,
      isCurrent: (cursor) => this.#isCurrent(cursor),
      onOutOfRange: () => {
        counters.outOfRangeOffsets++;
      },
      begin: (cursor, offset) => this.#begin(cursor, offset),
    });
  }

  /** False once the partition is read from a new cursor, or no more. */
  #isCurrent(cursor: PartitionCursor): boolean {
    return !this.#over && this.#cursors.get(keyOf(cursor.topic, cursor.partition)) === cursor;
  }

  #begin(cursor: PartitionCursor, offset: bigint): void {
    const { topic, partition } = cursor;
    if (!this.#isCurrent(cursor)) return;
    cursor.next = offset;
    this.#consumer.seek({ topic, partition, offset: String(offset) });
    this.#consumer.resume([{ topic, partitions: [partition] }]);
  }

  /** Takes a batch, which may have no messages: `patchKafkajs` passes on those, too. One without a mapping is taken at once. */
  #take(payload: EachBatchPayload): Promise<void> | undefined {
    const { topic, partition } = payload.batch;
    const cursor = this.#cursors.get(keyOf(topic, partition));
    if (cursor === undefined || this.#over) return undefined;
    const fetched = payload.batch as Batch & FetchedBatch;
    noteEnds(cursor, fetched, this.#options.now());
    // `lastOffset` of a fetch that brings nothing is the end of the partition, also behind an open transaction.
    if (fetched.rawMessages.length === 0) return undefined;
    const { appender, mapperOf } = this.#options;
    const map = mapperOf(topic);
    if (map !== null) return this.#takeMapped(cursor, fetched, map, payload);
    this.#takeFetched(cursor, fetched, payload, (records, from) => appender.add(topic, partition, records, from));
    return undefined;
  }

  /** Takes a batch part by part, each after its records are mapped, unless the partition is read from elsewhere by then. */
  async #takeMapped(cursor: PartitionCursor, fetched: FetchedBatch, map: MessageMapper, payload: EachBatchPayload): Promise<void> {
    const { topic, partition } = cursor;
    for await (const part of mappedParts(fetched, (copies) => map({ topic, partition }, copies))) {
      if (!this.#isCurrent(cursor)) return;
      this.#takeFetched(cursor, part, payload, (mapped, from) => this.#options.appender.addMapped(topic, partition, mapped, from));
      // What follows is fetched again, from the offset that is resolved.
      if (cursor.next === undefined || cursor.paused || cursor.block !== null) return;
      await payload.heartbeat();
    }
  }

  #takeFetched<Records extends PartitionRecords | MappedMessages>(
    cursor: PartitionCursor,
    fetched: FetchedBatch<Records>,
    { resolveOffset }: EachBatchPayload,
    add: (records: Records, from: number) => void,
  ): void {
    const { topic, partition } = cursor;
    const { appender, counters, logger } = this.#options;
    const taken = takeBatch(cursor, fetched, add);
    if (taken.kind === 'strayed') {
      logStrayed(logger, cursor, taken);
      this.#restart([cursor]);
    }
    if (taken.kind === 'strayed' || taken.kind === 'early') return;
    counters.messages += taken.messages;
    if (taken.kind === 'taken') resolveOffset(fetched.lastOffset());
    if (taken.kind === 'taken' || taken.messages > 0) appender.moveTo(topic, partition, taken.next, cursor.topicId);
    appender.flushWhenDue();
    if (taken.kind === 'taken') this.#pauseUnderPressure(cursor);
    if (taken.kind === 'blocked') this.#block(cursor, taken);
    else if (cursor.block !== null) this.#noteDecoded(cursor, cursor.block);
  }

  /** Stops reading the partition at a batch that cannot be decoded, for a while, or goes past it where that was asked for. */
  #block(cursor: PartitionCursor, { block: place, bytes }: Extract<TakenBatch, { kind: 'blocked' }>): void {
    const { topic, partition, block: before } = cursor;
    const { logger, blockedRetryMs = BLOCKED_RETRY_MS } = this.#options;
    clearTimeout(before?.retry);
    const skip = before?.skip ?? null;
    if (skip !== null) {
      try {
        this.#goPast(cursor, place, bytes, skipTarget(place, cursor.end, skip.to), skip.settle);
        return;
      } catch (error) {
        skip.settle.reject(error);
      }
    }
    this.#consumer.pause([{ topic, partitions: [partition] }]);
    cursor.paused = false;
    const retry = setTimeout(() => this.#begin(cursor, place.offset), blockedRetryMs);
    cursor.block = { place, retry, skip: null };
    const details = { topic, partition, offset: String(place.offset), reason: place.reason };
    if (before?.place.offset === place.offset) logger.debug(details, `Kafka ${explainBlock(place)}`);
    else logger.error(details, `Kafka ${explainBlock(place)}`);
  }

  #goPast(cursor: PartitionCursor, place: BlockedPartition, bytes: Buffer, next: bigint, settle: PromiseWithResolvers<SkipOutcome>): void {
    const { topic, partition } = cursor;
    const { appender, logger, store } = this.#options;
    appender.addBatchLetter(topic, partition, place.offset, bytes, skippedReason(place, next));
    appender.moveTo(topic, partition, next, cursor.topicId);
    cursor.block = null;
    this.#begin(cursor, next);
    const stored = async (): Promise<SkipOutcome> => {
      await appender.drain();
      const reached = await store.sourceOffset(topic, partition);
      if (reached === undefined || reached < next) throw new KafkaRefused('the store did not take the dead letter; try again');
      logger.warn({ topic, partition, offset: String(place.offset), next: String(next) }, 'a batch of Kafka was skipped, as was asked for');
      return { kind: 'skipped', next };
    };
    stored().then(settle.resolve, settle.reject);
  }

  #noteDecoded(cursor: PartitionCursor, { place, skip, retry }: WaitingBlock): void {
    clearTimeout(retry);
    cursor.block = null;
    const { topic, partition, offset } = place;
    this.#options.logger.info(
      { topic, partition, offset: String(offset) },
      'the batch of Kafka that could not be decoded is there no more',
    );
    skip?.settle.resolve({ kind: 'decoded' });
  }

  /** The partition is read from a new cursor, or no more. */
  #unblock({ topic, partition, block }: PartitionCursor): void {
    clearTimeout(block?.retry);
    block?.skip?.settle.reject(new KafkaRefused(`topic ${topic} partition ${partition} is read anew; try again when it waits again`));
  }

  #pauseUnderPressure(cursor: PartitionCursor): void {
    if (!cursor.paused && this.#options.appender.pendingBytes > MAX_PENDING_BYTES) {
      cursor.paused = true;
      this.#options.counters.pauses++;
      this.#consumer.pause([{ topic: cursor.topic, partitions: [cursor.partition] }]);
    }
  }

  /** Paused partitions are read on from half of the limit, so that they do not pause again at once. */
  #resumePaused(): void {
    if (this.#options.appender.pendingBytes >= MAX_PENDING_BYTES / 2) return;
    for (const cursor of this.#cursors.values()) {
      if (cursor.paused) {
        cursor.paused = false;
        this.#consumer.resume([{ topic: cursor.topic, partitions: [cursor.partition] }]);
      }
    }
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

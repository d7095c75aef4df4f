import type { Admin, Batch, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import type { KafkaAppender } from './kafka-appender.ts';
import type { KafkaCounters } from './kafka-counters.ts';
import type { KafkaLogger } from './kafka-log.ts';
import { type FetchedBatch, type PartitionCursor, partitionCursor, takeBatch } from './kafka-partition.ts';
import { placePartitions } from './kafka-placement.ts';

/** Partitions are held back above this many bytes that are read and not yet searchable, and let go below half of it. */
const PRESSURE_LIMIT_BYTES = 64 * 1024 * 1024;
const COMMIT_INTERVAL_MS = 5_000;
const RELIEF_INTERVAL_MS = 50;
/** A member sends a heartbeat every second while the brokers are there. */
const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 5_000;

export interface KafkaSessionOptions {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly store: EventStore;
  readonly appender: KafkaAppender;
  readonly counters: KafkaCounters;
  readonly now: () => number;
  readonly logger: KafkaLogger;
}

/**
 * One membership of the consumer group with one set of topics, from joining to leaving. The group only assigns partitions: where to read
 * them from is up to the store, and the offsets committed to the group are for monitoring tools.
 */
export class KafkaSession {
  readonly #options: KafkaSessionOptions;
  readonly #consumer: Consumer;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #committed = new Map<string, bigint>();
  readonly #broken = new AbortController();
  #cursors = new Map<string, PartitionCursor>();
  #joined = false;
  #over = false;
  #lastHeardMs = 0;

  constructor(options: KafkaSessionOptions) {
    this.#options = options;
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      // The least that brokers allow by default: after a kill the group waits this long for the member that is gone.
      sessionTimeout: 6_000,
      rebalanceTimeout: 10_000,
      heartbeatInterval: HEARTBEAT_MS,
      maxBytesPerPartition: 1024 * 1024,
      maxWaitTimeInMs: 100,
      metadataMaxAge: 15_000,
      allowAutoTopicCreation: false,
      // Whoever runs the session starts the next one, after a fresh look at the topics.
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4, restartOnFailure: async () => false },
    });
  }

  /** Aborts when the session has broken down, with the error as its reason. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** What keeps events from flowing right now, for people. */
  get troubles(): readonly string[] {
    if (!this.#joined) {
      return [`joining the Kafka consumer group ${this.#options.groupId}`];
    }
    const silentMs = this.#options.now() - this.#lastHeardMs;
    if (silentMs > SILENCE_MS) {
      return [`the Kafka brokers have not answered for ${Math.round(silentMs / 1000)} s`];
    }
    const waiting = [...this.#cursors.values()].filter(({ next }) => next === undefined).length;
    return waiting === 0 ? [] : [`${waiting} Kafka partitions wait for their offsets to be checked`];
  }

  /** Messages that the brokers had at the last fetch and that are not read yet. */
  get lag(): number {
    let lag = 0;
    for (const { next, end } of this.#cursors.values()) {
      lag += next !== undefined && end > next ? Number(end - next) : 0;
    }
    return lag;
  }

  async start(): Promise<void> {
    const { CRASH, GROUP_JOIN, HEARTBEAT, END_BATCH_PROCESS } = this.#consumer.events;
    this.#consumer.on(CRASH, ({ payload }) => this.#broken.abort(payload.error));
    this.#consumer.on(HEARTBEAT, () => this.#heard());
    this.#consumer.on(GROUP_JOIN, ({ payload }) => this.#assigned(payload.memberAssignment));
    this.#consumer.on(END_BATCH_PROCESS, ({ payload }) => {
      if (payload.batchSize === 0) {
        this.#passOver(payload.topic, payload.partition, BigInt(payload.lastOffset));
      }
    });
    await this.#consumer.connect();
    // From the beginning: what kafkajs falls back to where an offset is out of range must never be the latest.
    await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true });
    await this.#consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async (payload) => this.#take(payload) });
    this.#timers.push(
      setInterval(() => this.#letGo(), RELIEF_INTERVAL_MS),
      setInterval(() => void this.#commit(), COMMIT_INTERVAL_MS),
    );
  }

  /** Leaves the group. What has been read and not appended yet is still the appender's. */
  async stop(): Promise<void> {
    this.#over = true;
    this.#timers.forEach(clearInterval);
    await this.#consumer.disconnect();
  }

  /** Stops reading at once, and reads every partition again from where the store is after a while. */
  rewind(afterMs: number): void {
    this.#replace([...this.#cursors.values()], afterMs);
  }

  #heard(): void {
    this.#lastHeardMs = this.#options.now();
  }

  /** Runs within kafkajs's joining, before it fetches anything of the new assignment. */
  #assigned(assignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.#over) {
      return;
    }
    this.#joined = true;
    this.#heard();
    this.#options.appender.discard();
    this.#cursors = new Map();
    this.#replace(Object.entries(assignment).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition }))));
  }

  /** Stops reading the partitions until each has been placed anew. */
  #replace(partitions: readonly { readonly topic: string; readonly partition: number }[], afterMs = 0): void {
    const { admin, store, counters, logger, appender } = this.#options;
    const cursors = partitions.map(({ topic, partition }) => partitionCursor(topic, partition));
    for (const cursor of cursors) {
      this.#cursors.set(keyOf(cursor.topic, cursor.partition), cursor);
      this.#consumer.pause([{ topic: cursor.topic, partitions: [cursor.partition] }]);
    }
    void placePartitions(cursors, {
      afterMs,
      admin,
      store,
      counters,
      logger,
      drain: () => appender.drain(),
      isCurrent: (cursor) => !this.#over && this.#cursors.get(keyOf(cursor.topic, cursor.partition)) === cursor,
      begin: (cursor, offset) => this.#begin(cursor, offset),
    });
  }

  #begin(cursor: PartitionCursor, offset: bigint): void {
    const { topic, partition } = cursor;
    cursor.next = offset;
    this.#consumer.seek({ topic, partition, offset: String(offset) });
    this.#consumer.resume([{ topic, partitions: [partition] }]);
  }

  #take({ batch, resolveOffset }: EachBatchPayload): void {
    const { topic, partition } = batch;
    const { appender, counters, logger } = this.#options;
    const cursor = this.#cursors.get(keyOf(topic, partition));
    if (cursor === undefined || this.#over) {
      return;
    }
    const taken = takeBatch(cursor, batch as Batch & FetchedBatch, (offset, value) => appender.add(topic, partition, offset, value));
    if (taken.kind === 'strayed') {
      const details = { topic, partition, fetched: String(taken.fetched), expected: String(taken.expected) };
      logger.warn(details, 'kafkajs fetched from another offset than the next one; the offset is checked against the topic again');
      this.#replace([cursor]);
    } else if (taken.kind === 'taken') {
      resolveOffset(batch.lastOffset());
      counters.messages += taken.messages;
      appender.moveTo(topic, partition, taken.next);
      appender.flushWhenDue();
      this.#holdBack(cursor);
    }
  }

  /** A fetch that held only control records or aborted messages, which kafkajs passes over by itself. */
  #passOver(topic: string, partition: number, lastOffset: bigint): void {
    const cursor = this.#cursors.get(keyOf(topic, partition));
    if (cursor?.next !== undefined && lastOffset >= cursor.next) {
      cursor.next = lastOffset + 1n;
      this.#options.appender.moveTo(topic, partition, cursor.next);
      this.#options.appender.flushWhenDue();
    }
  }

  #holdBack(cursor: PartitionCursor): void {
    if (!cursor.held && this.#options.appender.pendingBytes > PRESSURE_LIMIT_BYTES) {
      cursor.held = true;
      this.#options.counters.pauses++;
      this.#consumer.pause([{ topic: cursor.topic, partitions: [cursor.partition] }]);
    }
  }

  #letGo(): void {
    if (this.#options.appender.pendingBytes >= PRESSURE_LIMIT_BYTES / 2) {
      return;
    }
    for (const cursor of this.#cursors.values()) {
      if (cursor.held) {
        cursor.held = false;
        this.#consumer.resume([{ topic: cursor.topic, partitions: [cursor.partition] }]);
      }
    }
  }

  async #commit(): Promise<void> {
    const moved = [...this.#cursors].flatMap(([key, { topic, partition }]) => {
      const stored = this.#options.store.sourceOffset(topic, partition);
      return stored === undefined || stored === this.#committed.get(key) ? [] : [{ key, topic, partition, stored }];
    });
    if (moved.length === 0) {
      return;
    }
    try {
      await this.#consumer.commitOffsets(moved.map(({ topic, partition, stored }) => ({ topic, partition, offset: String(stored) })));
      for (const { key, stored } of moved) {
        this.#committed.set(key, stored);
      }
    } catch (error) {
      // Nothing depends on it, and the next round commits again.
      this.#options.logger.debug({ err: error }, 'the offsets could not be committed to the Kafka consumer group');
    }
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

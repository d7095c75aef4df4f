import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import { abortable } from '../../work/abortable.ts';
import { messageMapper } from '../upload/mapped-messages.ts';
import type { MappingThreads } from '../upload/mapping-threads.ts';
import type { BlockedPartition, SkipOutcome } from './blocked-partition.ts';
import type { HangingTransaction } from './hanging-transaction.ts';
import { KafkaAppender, type KafkaCounters, kafkaCounters } from './kafka-appender.ts';
import { type KafkaConnection, type KafkaLogger, kafkaClients } from './kafka-connection.ts';
import { deniedTopic, explainKafkaFault, KafkaRefused } from './kafka-fault.ts';
import { KafkaSession } from './kafka-session.ts';
import { deniedAmong, matchTopics, type TopicEntry } from './kafka-topics.ts';
import { patchKafkajs } from './kafkajs-patches.ts';
import type { RewoundPartition } from './rewound-partition.ts';
import { listTopics } from './topic-metadata.ts';

/** How often the topics are listed, to find new and deleted ones, and those that were made anew. */
const TOPICS_INTERVAL_MS = 3_000;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 3_000;
/** The limit for leaving a group whose brokers do not answer. */
const STOP_DEADLINE_MS = 3_000;

/** Names of topics, sorted, each with its id where that is known. */
type TopicIds = ReadonlyMap<string, string | undefined>;

export interface KafkaSourceOptions {
  readonly kafka: KafkaConnection;
  readonly topics: readonly TopicEntry[];
  /** Maps the records of topics that have a mapping. */
  readonly threads: MappingThreads;
  /** The group normally has one member, because one program writes to a store. */
  readonly groupId: string;
  readonly store: EventStore;
  readonly now: () => number;
  readonly retentionMs: number;
  readonly logger: KafkaLogger;
  /** Replaces the wait of a minute at a batch that cannot be decoded. */
  readonly blockedRetryMs?: number;
}

export interface KafkaSource {
  /** Says for people why no events flow at the moment; empty while they do. `/readyz` shows them. */
  reasonsNotReady(): readonly string[];
  /** The transactions that keep partitions from being read to their end. They are the producers' own, so the source is ready. */
  hanging(): readonly HangingTransaction[];
  /** The partitions that wait at a batch that cannot be decoded. The others are read, so the source is ready all the same. */
  blocked(): readonly BlockedPartition[];
  /**
   * Goes past the batch at the offset that a partition waits at, to the offset behind it, or to `to` where its header is damaged. Resolves
   * when its dead letter is stored. Rejects with KafkaRefused.
   */
  skip(topic: string, partition: number, offset: bigint, to: bigint | null): Promise<SkipOutcome>;
  /**
   * Reads a topic again from the messages of a time on, in Unix milliseconds. Events that are stored already are duplicates. Resolves when
   * the store has the new offsets, with the partitions that go back. Rejects with KafkaRefused.
   */
  rewind(topic: string, sinceMs: number): Promise<readonly RewoundPartition[]>;
  counters(): Readonly<KafkaCounters>;
  /** The number of unread messages, as of the last fetches. */
  lag(): number;
  /** Leaves the group, and stores the messages that are read. */
  stop(): Promise<void>;
}

/**
 * Reads the topics into the store, each message exactly once, until it is stopped. Returns at once, and retries without end while the
 * brokers cannot be reached; `reasonsNotReady` tells why.
 */
export function startKafkaSource(options: KafkaSourceOptions): KafkaSource {
  patchKafkajs();
  return new RunningKafkaSource(options);
}

class RunningKafkaSource implements KafkaSource {
  readonly #options: KafkaSourceOptions;
  /** Each attempt has its own client, because certificates may be renewed while the program runs. */
  readonly #newClient: () => Kafka;
  readonly #appender: KafkaAppender;
  readonly #counters = kafkaCounters();
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  /** The ids of the topics as last told. A broker that is older than others tells none. */
  readonly #topicIds = new Map<string, string>();
  /** The mapping of each topic that is there. */
  #mappings: ReadonlyMap<string, string | null> = new Map();
  #session: KafkaSession | undefined;
  #missing: readonly string[] = [];
  /** The missing topics on which this client has no rights. */
  #denied: readonly string[] = [];
  /** The topics of the attempt under way. */
  #topics: readonly string[] = [];
  /** The reason why there is no session; null until the first attempt has ended. */
  #reasonNoSession: string | null = null;
  /** The reason why the last batch is not stored; null where it is. */
  #reasonNotStored: string | null = null;
  #failures = 0;
  #failedAppends = 0;

  constructor(options: KafkaSourceOptions) {
    this.#options = options;
    this.#newClient = kafkaClients(options.kafka, options.groupId, options.logger, options.now);
    this.#appender = new KafkaAppender({
      ...options,
      counters: this.#counters,
      onAppended: () => this.#appended(),
      onFailure: (error) => this.#appendFailed(error),
    });
    this.#finished = this.#run();
  }

  reasonsNotReady(): readonly string[] {
    const { kafka } = this.#options;
    return [
      ...(this.#session?.reasonsNotReady ?? [this.#reasonNoSession ?? `connecting to the Kafka brokers at ${kafka.brokers.join(', ')}`]),
      ...this.#missing.map((pattern) =>
        this.#denied.includes(pattern) ? deniedTopic([pattern], kafka) : `no Kafka topic is named ${pattern}`,
      ),
      ...(this.#reasonNotStored === null ? [] : [this.#reasonNotStored]),
    ];
  }

  hanging(): readonly HangingTransaction[] {
    return this.#session?.hanging ?? [];
  }

  blocked(): readonly BlockedPartition[] {
    return this.#session?.blocked ?? [];
  }

  async skip(topic: string, partition: number, offset: bigint, to: bigint | null): Promise<SkipOutcome> {
    return await this.#reading().skip(topic, partition, offset, to);
  }

  async rewind(topic: string, sinceMs: number): Promise<readonly RewoundPartition[]> {
    const rewound = await this.#reading().readAgain(topic, sinceMs);
    const partitions = rewound.map(({ partition, from, until }) => ({ partition, from: String(from), until: String(until) }));
    this.#options.logger.warn({ topic, sinceMs, partitions }, 'a topic of Kafka is read again, as was asked for');
    return rewound;
  }

  /** Throws KafkaRefused where nothing is read. */
  #reading(): KafkaSession {
    if (this.#session === undefined) throw new KafkaRefused('nothing is read from Kafka at the moment; /readyz tells why');
    return this.#session;
  }

  counters(): Readonly<KafkaCounters> {
    return this.#counters;
  }

  lag(): number {
    return this.#session?.lag ?? 0;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#finished;
    await this.#appender.drain();
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#connectAndRead();
        this.#failures = 0;
      } catch (error) {
        if (!this.#stopping.signal.aborted) {
          this.#noteFailure(error as Error);
          await this.#pause(retryDelayMs(this.#failures));
          this.#counters.reconnects++;
        }
      }
    }
  }

  /** Connects and reads until the topics change or the source stops. */
  async #connectAndRead(): Promise<void> {
    const kafka = this.#newClient();
    const admin = kafka.admin();
    try {
      // A broker that accepts a connection and then never answers must not delay the stop.
      await abortable(admin.connect(), this.#stopping.signal);
      const topics = await this.#findTopics(kafka, admin);
      this.#topics = [...topics.keys()];
      if (topics.size === 0) {
        this.#failures = 0;
        this.#reasonNoSession = 'there is no Kafka topic to read yet';
        await this.#pause(TOPICS_INTERVAL_MS);
      } else {
        await this.#read(kafka, admin, topics);
      }
    } finally {
      await this.#withDeadline(admin.disconnect(), 'disconnecting from the Kafka brokers');
    }
  }

  async #read(kafka: Kafka, admin: Admin, topics: TopicIds): Promise<void> {
    const { store, threads, groupId, now, logger, blockedRetryMs } = this.#options;
    const session = new KafkaSession({
      kafka,
      admin,
      groupId,
      topics,
      mapperOf: (topic) => {
        const mapping = this.#mappings.get(topic) ?? null;
        return mapping === null ? null : messageMapper(threads, mapping);
      },
      store,
      appender: this.#appender,
      counters: this.#counters,
      now,
      logger,
      ...(blockedRetryMs === undefined ? {} : { blockedRetryMs }),
    });
    const ending = AbortSignal.any([this.#stopping.signal, session.broken]);
    this.#session = session;
    try {
      await abortable(session.start(), ending);
      this.#failures = 0;
      this.#reasonNoSession = null;
      logger.info({ topics: [...topics.keys()], groupId }, 'reading from Kafka');
      let current = topics;
      while (String([...current]) === String([...topics])) {
        await delay(TOPICS_INTERVAL_MS, undefined, { signal: ending });
        current = await this.#findTopics(kafka, admin);
      }
    } catch (error) {
      // The error of an aborted timer does not have the signal's reason.
      throw session.broken.aborted ? session.broken.reason : error;
    } finally {
      this.#session = undefined;
      await this.#withDeadline(session.stop(), 'leaving the Kafka consumer group');
    }
  }

  async #findTopics(kafka: Kafka, admin: Admin): Promise<TopicIds> {
    const listed = await abortable(listTopics(admin), this.#stopping.signal);
    const { topics, missing } = matchTopics(this.#options.topics, [...listed.keys()]);
    // Checked each time, because rights may change while a topic stays missing.
    const denied = await abortable(deniedAmong(missing, kafka), this.#stopping.signal);
    for (const topic of denied) {
      if (!this.#denied.includes(topic)) this.#options.logger.warn({ topic }, deniedTopic([topic], this.#options.kafka));
    }
    this.#mappings = topics;
    this.#missing = missing;
    this.#denied = denied;
    for (const topic of topics.keys()) {
      const id = listed.get(topic);
      if (id !== undefined) this.#topicIds.set(topic, id);
    }
    return new Map([...topics.keys()].map((topic) => [topic, this.#topicIds.get(topic)]));
  }

  #noteFailure(error: Error): void {
    const { kafka, groupId, logger } = this.#options;
    this.#failures++;
    const why = explainKafkaFault(error, kafka, groupId, this.#topics);
    this.#reasonNoSession = `the Kafka brokers at ${kafka.brokers.join(', ')} cannot be read from: ${why}`;
    logger.warn({ attempt: this.#failures, retryInMs: retryDelayMs(this.#failures) }, this.#reasonNoSession);
    logger.debug({ err: error, attempt: this.#failures }, 'the error of that attempt');
  }

  #appended(): void {
    this.#counters.batches++;
    this.#failedAppends = 0;
    this.#reasonNotStored = null;
  }

  /** Rewinds in the same turn. Otherwise the next batch would advance the source offset past the events of this one. */
  #appendFailed(error: Error): void {
    this.#failedAppends++;
    this.#reasonNotStored = `the store did not take the last batch from Kafka: ${error.message}`;
    this.#options.logger.error({ err: error, failures: this.#failedAppends }, this.#reasonNotStored);
    this.#session?.rewind(retryDelayMs(this.#failedAppends));
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #withDeadline(work: Promise<void>, name: string): Promise<void> {
    // The connection is given up anyway.
    await abortable(work, AbortSignal.timeout(STOP_DEADLINE_MS)).catch((error: Error) =>
      this.#options.logger.debug({ err: error }, `${name} failed`),
    );
  }
}

function retryDelayMs(failures: number): number {
  return Math.min(MIN_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
}

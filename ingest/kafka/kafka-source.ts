import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import { KafkaAppender } from './kafka-appender.ts';
import { registerKafkaCodecs } from './kafka-codecs.ts';
import { type KafkaConnection, kafkaClients } from './kafka-connection.ts';
import { type KafkaCounters, kafkaCounters } from './kafka-counters.ts';
import { deniedTopic, explainKafkaFault } from './kafka-fault.ts';
import type { KafkaLogger } from './kafka-log.ts';
import { mendRequestTimer } from './kafka-request-timer.ts';
import { KafkaSession } from './kafka-session.ts';
import { deniedAmong, matchTopics } from './kafka-topics.ts';
import { orAborted } from './or-aborted.ts';

/** How often the brokers are asked for topics that have come or gone. */
const TOPICS_INTERVAL_MS = 3_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 3_000;
/** Leaving a group whose brokers do not answer is given up after this long. */
const STOP_DEADLINE_MS = 3_000;

export interface KafkaSourceOptions {
  readonly kafka: KafkaConnection;
  /** Names of topics, or globs. */
  readonly topics: readonly string[];
  /** One store is fed by one program, so the group normally has one member. */
  readonly groupId: string;
  readonly store: EventStore;
  readonly now: () => number;
  readonly retentionMs: number;
  readonly logger: KafkaLogger;
}

export interface KafkaHealth {
  readonly ready: boolean;
  /** What keeps events from flowing; empty when ready. */
  readonly reasons: readonly string[];
}

export interface KafkaSource {
  health(): KafkaHealth;
  counters(): Readonly<KafkaCounters>;
  /** Messages that the brokers have and that are not read yet, as of the last fetches. */
  lag(): number;
  /** Leaves the group and stores what has been read. */
  stop(): Promise<void>;
}

/**
 * Reads the topics into the store, each message exactly once, until stopped. Returns at once: brokers that cannot be reached are tried
 * again for ever, which `health` tells.
 */
export function startKafkaSource(options: KafkaSourceOptions): KafkaSource {
  registerKafkaCodecs();
  mendRequestTimer();
  return new RunningKafkaSource(options);
}

class RunningKafkaSource implements KafkaSource {
  readonly #options: KafkaSourceOptions;
  /** Each attempt to connect and read has a client of its own, because certificates are renewed while the program runs. */
  readonly #newClient: () => Kafka;
  readonly #appender: KafkaAppender;
  readonly #counters = kafkaCounters();
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  #session: KafkaSession | undefined;
  #missing: readonly string[] = [];
  /** The missing ones that are missing for want of a right. */
  #denied: readonly string[] = [];
  /** The topics of the attempt under way. */
  #topics: readonly string[] = [];
  /** Why there is no session; null before the first attempt has ended. */
  #trouble: string | null = null;
  #storeTrouble: string | null = null;
  #failures = 0;
  #failedAppends = 0;

  constructor(options: KafkaSourceOptions) {
    this.#options = options;
    this.#newClient = kafkaClients(options.kafka, options.groupId, options.logger, options.now);
    this.#appender = new KafkaAppender({
      ...options,
      onAppended: () => this.#appended(),
      onFailure: (error) => this.#appendFailed(error),
    });
    this.#finished = this.#run();
  }

  health(): KafkaHealth {
    const { kafka } = this.#options;
    const reasons = [
      ...(this.#session?.troubles ?? [this.#trouble ?? `connecting to the Kafka brokers at ${kafka.brokers.join(', ')}`]),
      ...this.#missing.map((pattern) =>
        this.#denied.includes(pattern) ? deniedTopic([pattern], kafka) : `no Kafka topic is named ${pattern}`,
      ),
      ...(this.#storeTrouble === null ? [] : [this.#storeTrouble]),
    ];
    return { ready: reasons.length === 0, reasons };
  }

  counters(): Readonly<KafkaCounters> {
    return { ...this.#counters };
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

  /** One connection; returns when the topics to read have changed, or on stop. */
  async #connectAndRead(): Promise<void> {
    const kafka = this.#newClient();
    const admin = kafka.admin();
    try {
      // Brokers that accept a connection and then say nothing must not keep the source from stopping.
      await orAborted(admin.connect(), this.#stopping.signal);
      const topics = await this.#findTopics(kafka, admin);
      this.#topics = topics;
      if (topics.length === 0) {
        this.#failures = 0;
        this.#trouble = 'there is no Kafka topic to read yet';
        await this.#pause(TOPICS_INTERVAL_MS);
      } else {
        await this.#read(kafka, admin, topics);
      }
    } finally {
      await this.#withDeadline(admin.disconnect(), 'disconnecting from the Kafka brokers');
    }
  }

  async #read(kafka: Kafka, admin: Admin, topics: readonly string[]): Promise<void> {
    const { store, groupId, now, logger } = this.#options;
    const session = new KafkaSession({
      kafka,
      admin,
      groupId,
      topics,
      store,
      appender: this.#appender,
      counters: this.#counters,
      now,
      logger,
    });
    const ending = AbortSignal.any([this.#stopping.signal, session.broken]);
    this.#session = session;
    try {
      await orAborted(session.start(), ending);
      this.#failures = 0;
      this.#trouble = null;
      logger.info({ topics, groupId }, 'reading from Kafka');
      let current = topics;
      while (String(current) === String(topics)) {
        await delay(TOPICS_INTERVAL_MS, undefined, { signal: ending });
        current = await this.#findTopics(kafka, admin);
      }
    } catch (error) {
      // A timer says only that it was aborted; the signal says why.
      throw session.broken.aborted ? session.broken.reason : error;
    } finally {
      this.#session = undefined;
      await this.#withDeadline(session.stop(), 'leaving the Kafka consumer group');
    }
  }

  async #findTopics(kafka: Kafka, admin: Admin): Promise<readonly string[]> {
    const { topics, missing } = matchTopics(this.#options.topics, await orAborted(admin.listTopics(), this.#stopping.signal));
    // Rights come and go while the topics stay missing, so the brokers are asked at every look.
    const denied = await orAborted(deniedAmong(missing, kafka), this.#stopping.signal);
    for (const topic of denied) {
      if (!this.#denied.includes(topic)) this.#options.logger.warn({ topic }, deniedTopic([topic], this.#options.kafka));
    }
    this.#missing = missing;
    this.#denied = denied;
    return topics;
  }

  #noteFailure(error: Error): void {
    const { kafka, groupId, logger } = this.#options;
    this.#failures++;
    const why = explainKafkaFault(error, kafka, groupId, this.#topics);
    this.#trouble = `the Kafka brokers at ${kafka.brokers.join(', ')} cannot be read from: ${why}`;
    logger.warn({ attempt: this.#failures, retryInMs: retryDelayMs(this.#failures) }, this.#trouble);
    logger.debug({ err: error, attempt: this.#failures }, 'the error of that attempt');
  }

  #appended(): void {
    this.#counters.batches++;
    this.#failedAppends = 0;
    this.#storeTrouble = null;
  }

  /** Must stop the reading before anything else is read, or the next batch would pass over the events of this one. */
  #appendFailed(error: Error): void {
    this.#failedAppends++;
    this.#storeTrouble = `the store did not take the last batch from Kafka: ${error.message}`;
    this.#options.logger.error({ err: error, failures: this.#failedAppends }, this.#storeTrouble);
    this.#session?.rewind(retryDelayMs(this.#failedAppends));
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #withDeadline(work: Promise<void>, name: string): Promise<void> {
    const timer = new AbortController();
    const late = delay(STOP_DEADLINE_MS, undefined, { signal: timer.signal }).then(() => {
      throw new Error(`${name} took more than ${STOP_DEADLINE_MS} ms`);
    });
    late.catch(() => undefined);
    await Promise.race([work, late])
      // Nothing is left to be done about a connection that is given up anyway.
      .catch((error: Error) => this.#options.logger.debug({ err: error }, `${name} failed`))
      .finally(() => timer.abort());
  }
}

function retryDelayMs(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
}

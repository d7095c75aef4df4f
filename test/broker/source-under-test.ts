import { inject, onTestFinished } from 'vitest';
import { BLOCKED_RETRY_MS } from '../../ingest/kafka/blocked-partition.ts';
import { type KafkaConnection, type KafkaLogger, silentKafkaLogger } from '../../ingest/kafka/kafka-connection.ts';
import { type KafkaSource, startKafkaSource } from '../../ingest/kafka/kafka-source.ts';
import type { TopicEntry } from '../../ingest/kafka/kafka-topics.ts';
import { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import type { EventStore } from '../../store/event-store.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import { RETENTION_MS } from '../fixtures/temporary-store.ts';
import { ZONE } from './event-file.ts';
import { uniqueName } from './test-topic.ts';
import { until } from './until.ts';

export interface SourceUnderTest extends KafkaSource {
  /** The warnings and errors that it logged. */
  readonly complaints: readonly string[];
}

interface SourceChoices {
  readonly store: EventStore;
  /** Names and globs, or entries with a mapping. */
  readonly topics: readonly (string | TopicEntry)[];
  /** Default: none, with no mapping. */
  readonly threads?: MappingThreads;
  readonly groupId?: string;
  /** Default: the broker that the tests share. */
  readonly brokers?: string;
  /** Default: those brokers, in the clear. */
  readonly kafka?: KafkaConnection;
  /** Default: a minute. */
  readonly blockedRetryMs?: number;
  /** Default: the clock. */
  readonly now?: () => number;
}

/** A source that is stopped with the test, if it was not before. */
export function sourceUnderTest({
  store,
  topics,
  threads = new MappingThreads(new Map()),
  groupId = uniqueName('group'),
  brokers = inject('kafkaBrokers'),
  kafka = { brokers: brokers.split(','), tls: null, sasl: null },
  blockedRetryMs = BLOCKED_RETRY_MS,
  now = Date.now,
}: SourceChoices): SourceUnderTest {
  const complaints: string[] = [];
  const complain = (_details: object, message: string): void => {
    complaints.push(message);
  };
  const logger: KafkaLogger = { ...silentKafkaLogger, warn: complain, error: complain };
  const entries = topics.map((topic) => (typeof topic === 'string' ? { pattern: topic, mapping: null } : topic));
  const source = startKafkaSource({
    kafka,
    topics: entries,
    threads,
    groupId,
    store,
    now,
    retentionMs: RETENTION_MS,
    logger,
    blockedRetryMs,
  });
  onTestFinished(() => source.stop());
  return {
    complaints,
    reasonsNotReady: () => source.reasonsNotReady(),
    blocked: () => source.blocked(),
    hanging: () => source.hanging(),
    skip: (topic, partition, offset, to) => source.skip(topic, partition, offset, to),
    rewind: (topic, sinceMs) => source.rewind(topic, sinceMs),
    counters: () => source.counters(),
    lag: () => source.lag(),
    stop: () => source.stop(),
  };
}

export async function untilReady(source: KafkaSource): Promise<void> {
  await until(
    'the source to be ready',
    () => source.reasonsNotReady(),
    (reasons) => reasons.length === 0,
  );
}

/** Waits until the store has taken in so many events. */
export async function untilStored(store: EventStore, events: number): Promise<void> {
  await until(
    `${events} events in the store`,
    async () => (await store.stats()).events,
    (found) => found >= events,
    120_000,
  );
}

/** The ids of all events of the zone, sorted, as searches find them. */
export async function searchedIds(store: EventStore): Promise<string[]> {
  const size = 100_000;
  const ids: string[] = [];
  for (let index = 0; ; index++) {
    const result = await store.search({
      zones: [ZONE],
      window: { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
      where: { kind: 'everything' },
      page: { index, size },
      output: { kind: 'rows' },
    });
    const rows = await rowsOf(result);
    for (const { logId } of rows) {
      ids.push(logId);
    }
    if (rows.length < size) {
      if (ids.length !== result.total) {
        throw new Error(`${ids.length} rows on all pages, total ${result.total}`);
      }
      return ids.sort();
    }
  }
}

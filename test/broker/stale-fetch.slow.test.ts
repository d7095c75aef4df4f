import type { Batch } from 'kafkajs';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { KafkaAppender, kafkaCounters } from '../../ingest/kafka/kafka-appender.ts';
import { kafkaClients, silentKafkaLogger } from '../../ingest/kafka/kafka-connection.ts';
import type { FetchedBatch } from '../../ingest/kafka/kafka-partition.ts';
import { KafkaSession } from '../../ingest/kafka/kafka-session.ts';
import { patchKafkajs } from '../../ingest/kafka/kafkajs-patches.ts';
import type { EventStore } from '../../store/event-store.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { alteredStore } from './altered-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

/** Two batches of five such events are what one fetch of a partition brings. */
const largeEvent = (name: string): Buffer => eventMessage(name, { log: { body: 'x'.repeat(100_000) } });
const names = (partition: number, count: number): string[] => Array.from({ length: count }, (_, index) => `${partition}-${index + 10}`);

/** Partition 0 holds 20 events; partition 1 holds 10, and behind them an aborted one and its marker. */
async function topicOfTwoFetches(): Promise<string> {
  const topic = uniqueName('stale');
  await createTopic(inject('kafkaBrokers'), topic, 2);
  const producer = await ownProducer();
  for (const [partition, count] of [
    [0, 20],
    [1, 10],
  ] as const) {
    for (let first = 0; first < count; first += 5) {
      await sendValues(
        producer,
        topic,
        names(partition, count)
          .slice(first, first + 5)
          .map(largeEvent),
        partition,
      );
    }
  }
  const transaction = await (await ownProducer(inject('kafkaBrokers'), uniqueName('transaction'))).transaction();
  await transaction.send({ topic, messages: [{ value: largeEvent('aborted'), partition: 1 }] });
  await transaction.abort();
  return topic;
}

/** A session whose second batch of partition 0 is under way until `release` is called; by then the store has refused the first append. */
async function sessionHeldInSecondFetch(topic: string, store: EventStore) {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const rewound = Promise.withResolvers<void>();
  const kafka = kafkaClients({ brokers: inject('kafkaBrokers').split(','), tls: null, sasl: null }, 'test', silentKafkaLogger, Date.now)();
  const makeConsumer = kafka.consumer.bind(kafka);
  kafka.consumer = (config) => {
    const consumer = makeConsumer(config);
    const run: typeof consumer.run = (runConfig) =>
      consumer.run({
        ...runConfig,
        eachBatch: async (payload) => {
          await runConfig?.eachBatch?.(payload);
          const { partition, fetchedOffset } = payload.batch as Batch & FetchedBatch;
          if (partition === 0 && fetchedOffset === '10') {
            held.resolve();
            await released.promise;
          }
        },
      });
    return { ...consumer, run };
  };
  let refusals = 0;
  const refusing = alteredStore(store, {
    append: async (batch) => {
      if (refusals++ === 0) {
        await held.promise;
        throw new Error('no space left on the device');
      }
      return await store.append(batch);
    },
  });
  const counters = kafkaCounters();
  const appender = new KafkaAppender({
    store: refusing,
    counters,
    now: Date.now,
    retentionMs: RETENTION_MS,
    onAppended: () => {},
    onFailure: () => {
      session.rewind(0);
      rewound.resolve();
    },
  });
  const admin = kafka.admin();
  await admin.connect();
  const session = new KafkaSession({
    ...{ kafka, admin, groupId: uniqueName('group'), topics: new Map([[topic, undefined]]), store: refusing, appender },
    ...{ mapperOf: () => null, counters, now: () => 0, logger: silentKafkaLogger },
  });
  onTestFinished(async () => {
    await session.stop();
    await admin.disconnect();
    await appender.drain();
  });
  await session.start();
  await rewound.promise;
  return { session, release: () => released.resolve() };
}

it('a fetch without messages that is older than a rewind of its partition skips none of the events that are read again', async () => {
  patchKafkajs();
  // kafkajs shuffles the partitions of a fetch: partition 1 has to wait behind partition 0.
  vi.spyOn(Math, 'random').mockReturnValue(0.9);
  onTestFinished(() => void vi.restoreAllMocks());
  const topic = await topicOfTwoFetches();
  const store = await storeIn(temporaryFolder());
  const { session, release } = await sessionHeldInSecondFetch(topic, store);
  await until(
    'both partitions to begin anew',
    () => session.reasonsNotReady,
    (reasons) => reasons.length === 0,
  );
  release();
  await until(
    'the source offsets to pass the last messages',
    () => Promise.all([store.sourceOffset(topic, 0), store.sourceOffset(topic, 1)]),
    ([first, second]) => first === 20n && second === 12n,
  );
  expect(await searchedIds(store)).toEqual([...names(0, 20), ...names(1, 10)]);
});

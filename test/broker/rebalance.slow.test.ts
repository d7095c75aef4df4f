import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { expect, inject, it, onTestFinished } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { writeEventFile } from './event-file.ts';
import { produceFile } from './foreign-producer.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const EVENTS = 30_000;

it('partitions that are taken away and given back under load lose and repeat nothing', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('rebalance');
  const groupId = uniqueName('group');
  await createTopic(brokers, topic, 4);
  const file = join(temporaryFolder(), 'events.ndjson');
  const ids = (await writeEventFile(file, EVENTS, 99)).sort();
  const store = await storeIn(temporaryFolder());
  sourceUnderTest({ store, topics: [topic], groupId });
  const produced = produceFile(brokers, topic, file, 'lz4');
  await untilStored(store, 1);

  // An intruder in the group gets half of the partitions, reads nothing of them and goes.
  const intruder = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).consumer({ groupId });
  onTestFinished(() => intruder.disconnect());
  const joined = new Promise<void>((resolve) => intruder.on(intruder.events.GROUP_JOIN, () => resolve()));
  await intruder.connect();
  await intruder.subscribe({ topics: [topic] });
  await intruder.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async () => {} });
  await joined;
  await intruder.disconnect();

  await produced;
  await untilStored(store, EVENTS);
  expect(await searchedIds(store)).toEqual(ids);
  await until(
    'the store to be quiet',
    () => store.pendingBytes(),
    (bytes) => bytes === 0,
  );
  expect(await store.stats()).toMatchObject({ events: EVENTS, duplicateEvents: 0 });
  const topicIds = await Promise.all([0, 1, 2, 3].map((partition) => store.sourceTopicId(topic, partition)));
  expect(new Set(topicIds)).toEqual(new Set([expect.stringMatching(/^[\w-]{22}$/)]));
});

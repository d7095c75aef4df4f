import { expect, inject, it } from 'vitest';
import type { EventStore } from '../../store/event-store.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, deleteTopic, uniqueName, withAdmin } from './test-topic.ts';
import { until } from './until.ts';

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const messages = (prefix: string, count: number): Buffer[] => names(prefix, count).map((name) => eventMessage(name));

/** A topic of which the store has read everything. */
async function readTopic(store: EventStore, count: number): Promise<string> {
  const topic = uniqueName('range');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  await sendValues(await ownProducer(), topic, messages('before', count));
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, count);
  await source.stop();
  return topic;
}

it('a topic that was made anew with fewer messages is read from its earliest, loudly', async () => {
  const brokers = inject('kafkaBrokers');
  const store = await storeIn(temporaryFolder());
  const topic = await readTopic(store, 50);
  await deleteTopic(brokers, topic);
  await createTopic(brokers, topic, 1);
  await sendValues(await ownProducer(), topic, messages('anew', 20));

  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 70);
  expect(source.counters().outOfRangeOffsets).toBe(1);
  expect(source.complaints.join()).toContain('reading goes on from its earliest');
  expect(await searchedIds(store)).toEqual([...names('anew', 20), ...names('before', 50)].sort());
  await until(
    'the source offset to follow',
    () => store.sourceOffset(topic, 0),
    (sourceOffset) => sourceOffset === 20n,
  );

  await source.stop();
  const again = sourceUnderTest({ store, topics: [topic] });
  await sendValues(await ownProducer(), topic, messages('later', 1));
  await untilStored(store, 71);
  expect(again.counters()).toMatchObject({ outOfRangeOffsets: 0, messages: 1 });
});

it('messages that were deleted before they were read are counted, and reading goes on from the earliest that is left', async () => {
  const brokers = inject('kafkaBrokers');
  const store = await storeIn(temporaryFolder());
  const topic = await readTopic(store, 10);
  await sendValues(await ownProducer(), topic, [...messages('lost', 15), ...messages('left', 5)]);
  await withAdmin(brokers, async (admin) => {
    // kafkajs deletes records only of topics that it has been asked about before.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '25' }] });
  });

  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 15);
  expect(source.counters().outOfRangeOffsets).toBe(1);
  expect(source.complaints.join()).toContain('Kafka has deleted messages that were not read yet');
  expect(await searchedIds(store)).toEqual([...names('before', 10), ...names('left', 5)].sort());
});

it('a topic that is made anew while it is being read is read from its earliest', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('range');
  await createTopic(brokers, topic, 1);
  await sendValues(await ownProducer(), topic, messages('before', 50));
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 50);

  await deleteTopic(brokers, topic);
  await createTopic(brokers, topic, 1);
  await sendValues(await ownProducer(), topic, messages('anew', 20));
  await untilStored(store, 70);
  await untilReady(source);
  expect(source.counters().outOfRangeOffsets).toBe(1);
  expect(await searchedIds(store)).toEqual([...names('anew', 20), ...names('before', 50)].sort());
});

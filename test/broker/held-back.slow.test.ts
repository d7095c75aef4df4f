import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { alteredStore } from './altered-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';
import { until } from './until.ts';

const EVENTS = 40;
const EVENTS_A_SEND = 5;
/** Ten of them are what one fetch of a partition brings. */
const BODY_BYTES = 100_000;

const nameOf = (index: number): string => `event-${String(index).padStart(2, '0')}`;

/** A real store that says that it is further behind than it is, by what it is told. */
async function storeThatLags() {
  const store = await storeIn(temporaryFolder());
  const lag = { bytes: 64 * 1024 * 1024 };
  const lagging = alteredStore(store, { pendingBytes: () => store.pendingBytes() + lag.bytes });
  return { store, lagging, lag };
}

async function topicOfLargeEvents(): Promise<string> {
  const topic = uniqueName('held');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const producer = await ownProducer();
  for (let first = 0; first < EVENTS; first += EVENTS_A_SEND) {
    const names = Array.from({ length: EVENTS_A_SEND }, (_, index) => nameOf(first + index));
    await sendValues(
      producer,
      topic,
      names.map((name) => eventMessage(name, { log: { body: 'x'.repeat(BODY_BYTES) } })),
    );
  }
  return topic;
}

/** A source that has read some of a topic of large events and waits, because its store says that it is far behind. */
async function sourceHeldBack() {
  const topic = await topicOfLargeEvents();
  const { store, lagging, lag } = await storeThatLags();
  const source = sourceUnderTest({ store: lagging, topics: [topic] });
  await until(
    'the partition to be held back',
    () => source.counters().pauses,
    (pauses) => pauses === 1,
  );
  await untilStored(store, 1);
  return { topic, store, lag, source };
}

async function deleteBefore(topic: string, offset: number): Promise<void> {
  await withAdmin(inject('kafkaBrokers'), async (admin) => {
    // kafkajs deletes records only of topics that it has been asked about before.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
  });
}

it('a partition is held back while the store is behind, and read to its end afterwards', async () => {
  const { store, lag, source } = await sourceHeldBack();
  expect(source.counters().messages).toBeLessThan(EVENTS / 2);
  expect(source.lag()).toBe(EVENTS - source.counters().messages);
  lag.bytes = 0;
  await untilStored(store, EVENTS);
  expect(await searchedIds(store)).toEqual(Array.from({ length: EVENTS }, (_, index) => nameOf(index)));
  expect(source.lag()).toBe(0);
});

it('messages that are deleted while the partition is held back are counted as lost, and reading goes on with what is left', async () => {
  const { topic, store, lag, source } = await sourceHeldBack();
  const { messages } = source.counters();
  await deleteBefore(topic, 30);
  lag.bytes = 0;
  await untilStored(store, messages + 10);
  await untilReady(source);
  expect(source.counters()).toMatchObject({ outOfRangeOffsets: 1, messages: messages + 10 });
  expect(source.complaints.join()).toContain('Kafka has deleted messages that were not read yet');
  const left = [...Array(messages).keys(), 30, 31, 32, 33, 34, 35, 36, 37, 38, 39];
  expect(await searchedIds(store)).toEqual(left.map(nameOf));
});

it('messages that are deleted before those of an aborted transaction are counted as lost, too', async () => {
  const { topic, store, lag, source } = await sourceHeldBack();
  const { messages } = source.counters();
  const transaction = await (await ownProducer(inject('kafkaBrokers'), uniqueName('transaction'))).transaction();
  await transaction.send({ topic, messages: [{ value: eventMessage('aborted'), partition: 0 }] });
  await transaction.abort();
  await deleteBefore(topic, EVENTS);
  lag.bytes = 0;
  await until(
    'the source offset to pass the marker behind the aborted message',
    () => store.sourceOffset(topic, 0),
    (sourceOffset) => sourceOffset === BigInt(EVENTS + 2),
  );
  expect(source.counters()).toMatchObject({ outOfRangeOffsets: 1, messages });
  expect(source.complaints.join()).toContain('Kafka has deleted messages that were not read yet');
  expect(await searchedIds(store)).toEqual([...Array(messages).keys()].map(nameOf));
});

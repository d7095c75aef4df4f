import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { EventStore } from '../../store/event-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { alteredStore } from './altered-store.ts';
import { ZONE } from './event-file.ts';
import { startBroker } from './kafka-broker.ts';
import { ownProducer, sendEvents, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, deleteTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const [BEFORE, ANEW] = [names('before', 5), names('anew', 9)];

/** The topic made anew, which grows past the offsets of the one before. */
async function makeAnew(topic: string, meanwhile = async (): Promise<void> => {}): Promise<void> {
  await deleteTopic(inject('kafkaBrokers'), topic);
  await meanwhile();
  await createTopic(inject('kafkaBrokers'), topic, 1);
  await sendEvents(await ownProducer(), topic, ANEW);
}

async function topicWithEvents(): Promise<string> {
  const topic = uniqueName('anew');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  await sendEvents(await ownProducer(), topic, BEFORE);
  return topic;
}

/** A topic of which the store has read everything. */
async function topicThatWasRead(store: EventStore): Promise<string> {
  const topic = await topicWithEvents();
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, BEFORE.length);
  await source.stop();
  return topic;
}

async function untilOffset(store: EventStore, topic: string, offset: number): Promise<void> {
  await until(
    `the source offset ${offset}`,
    () => store.sourceOffset(topic, 0),
    (found) => found === BigInt(offset),
  );
}

it('a topic that was made anew and has grown past the stored offset is read from its earliest, loudly, and only once', async () => {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
  const topic = await topicThatWasRead(store);
  const id = await store.sourceTopicId(topic, 0);
  await makeAnew(topic);

  const source = sourceUnderTest({ store, topics: [topic] });
  await untilOffset(store, topic, ANEW.length);
  const newId = await store.sourceTopicId(topic, 0);
  expect(await searchedIds(store)).toEqual([...ANEW, ...BEFORE]);
  expect(source.complaints).toEqual([
    `the stored offset 5 of topic ${topic} partition 0 counts no more: it is of a Kafka topic with the id ${id}, and the topic has ` +
      `the id ${newId}, so it was made anew or is in another cluster; reading goes on from its earliest`,
  ]);
  expect([id, newId]).toEqual([expect.stringMatching(/^[\w-]{22}$/), expect.stringMatching(/^[\w-]{22}$/)]);
  expect(source.counters().outOfRangeOffsets).toBe(1);
  await source.stop();

  // What a kill leaves before the flush, and what is there after it.
  const killed = temporaryFolder();
  cpSync(dataDir, killed, { recursive: true });
  await store.settle('flush');
  await store.close();
  await sendEvents(await ownProducer(), topic, ['later']);
  for (const folder of [killed, dataDir]) {
    const again = await storeIn(folder);
    expect(await again.sourceTopicId(topic, 0)).toBe(newId);
    const restarted = sourceUnderTest({ store: again, topics: [topic] });
    await untilStored(again, BEFORE.length + ANEW.length + 1);
    expect(restarted.counters()).toMatchObject({ outOfRangeOffsets: 0, messages: 1 });
    expect(restarted.complaints).toEqual([]);
    expect((await again.stats()).duplicateEvents).toBe(0);
    await restarted.stop();
  }
});

it('a topic that is made anew and grows past the offset while it is being read loses and doubles nothing', async () => {
  const topic = await topicWithEvents();
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, BEFORE.length);
  const id = await store.sourceTopicId(topic, 0);
  await makeAnew(topic);
  await sendValues(await ownProducer(), topic, [Buffer.from('no event')]);
  await until(
    'the new topic to be read',
    async () => [await store.sourceOffset(topic, 0), (await store.sourceTopicId(topic, 0)) !== id],
    ([offset, isNew]) => offset === BigInt(ANEW.length + 1) && isNew === true,
  );
  await untilReady(source);
  expect(await searchedIds(store)).toEqual([...ANEW, ...BEFORE]);
  expect((await store.stats()).deadLetters).toBe(1);
});

it('events without an id of their own that have the offsets of earlier ones are stored', async () => {
  const topic = uniqueName('anew');
  const nameless = (timestamp: number) =>
    [0, 1, 2].map((more) => Buffer.from(JSON.stringify({ shieldZoneId: ZONE, timestamp: timestamp + more })));
  const now = Date.now();
  await createTopic(inject('kafkaBrokers'), topic, 1);
  await sendValues(await ownProducer(), topic, nameless(now - 10_000));
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 3);
  await source.stop();
  await deleteTopic(inject('kafkaBrokers'), topic);
  await createTopic(inject('kafkaBrokers'), topic, 1);
  await sendValues(await ownProducer(), topic, [...nameless(now - 5_000), ...nameless(now)]);
  sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 9);
  expect((await store.stats()).duplicateEvents).toBe(0);
});

it('what was read of a topic before it was made anew is stored, although the store is slow', async () => {
  const topic = uniqueName('anew');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const store = await storeIn(temporaryFolder());
  const slow = Promise.withResolvers<void>();
  let appends = 0;
  const slowStore = alteredStore(store, {
    append: async (batch) => {
      appends++;
      await slow.promise;
      return await store.append(batch);
    },
  });
  const source = sourceUnderTest({ store: slowStore, topics: [topic] });
  onTestFinished(() => slow.resolve());
  const producer = await ownProducer();
  for (const [index, name] of BEFORE.entries()) {
    await sendEvents(producer, topic, [name]);
    // Three batches are under way, and the others are collected.
    await until('the event to be read', () => source.counters().messages === index + 1 && appends === Math.min(index + 1, 3));
  }
  const untilReason = (reason: string): Promise<string> =>
    until(
      reason,
      () => source.reasonsNotReady().join(),
      (reasons) => reasons.includes(reason),
    );
  await makeAnew(topic, async () => void (await untilReason('no Kafka topic is named')));
  await untilReason('wait for their offsets');
  slow.resolve();
  await untilStored(store, BEFORE.length + ANEW.length);
  expect(await searchedIds(store)).toEqual([...ANEW, ...BEFORE]);
});

it('an offset without an id takes it at first sight, before there is a message', async () => {
  const topic = await topicWithEvents();
  const store = await storeIn(temporaryFolder());
  await store.append(canonicalBatch([], { sourceOffsets: [{ topic, partition: 0, nextOffset: 5n }] }));
  const source = sourceUnderTest({ store, topics: [topic] });
  await until('the id to be stored', async () => (await store.sourceTopicId(topic, 0)) !== undefined);
  expect([source.counters().messages, source.complaints]).toEqual([0, []]);
  await source.stop();
  await makeAnew(topic);
  sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, ANEW.length);
  expect(await searchedIds(store)).toEqual(ANEW);
});

it('the topic of the same name in another cluster is read from its earliest', async () => {
  const store = await storeIn(temporaryFolder());
  const topic = await topicThatWasRead(store);
  const other = await startBroker();
  onTestFinished(() => other.stop());
  await createTopic(other.address, topic, 1);
  await sendEvents(await ownProducer(other.address), topic, ANEW);
  const source = sourceUnderTest({ store, topics: [topic], brokers: other.address });
  await untilStored(store, BEFORE.length + ANEW.length);
  expect(await searchedIds(store)).toEqual([...ANEW, ...BEFORE]);
  expect(source.complaints.join()).toContain('is in another cluster');
});

it('brokers that tell no ids are read as before, and the id of a stored offset stays', async () => {
  const requests = createRequire(import.meta.url)('kafkajs/src/protocol/requests/metadata') as {
    protocol(choice: { version: number }): object;
  };
  const store = await storeIn(temporaryFolder());
  const topic = await topicThatWasRead(store);
  const id = await store.sourceTopicId(topic, 0);
  const { protocol } = requests;
  onTestFinished(() => void Object.assign(requests, { protocol }));
  // A broker of Kafka 2.7 has version 9 at most.
  requests.protocol = () => protocol({ version: 9 });

  const source = sourceUnderTest({ store, topics: [topic] });
  await sendEvents(await ownProducer(), topic, ['later']);
  await untilOffset(store, topic, 6);
  expect([await store.sourceTopicId(topic, 0), source.complaints]).toEqual([id, []]);
  await makeAnew(topic);
  await source.stop();
  requests.protocol = protocol;
  sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, BEFORE.length + 1 + ANEW.length);
  expect(await searchedIds(store)).toEqual([...ANEW, ...BEFORE, 'later']);
});

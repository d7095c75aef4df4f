import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';
import { until } from './until.ts';

it('reads two topics by name, others by a glob, and one that appears later', async () => {
  const brokers = inject('kafkaBrokers');
  const prefix = uniqueName('edge');
  const topics = { named: `${prefix}.one`, other: uniqueName('two'), matched: `${prefix}.zone-a`, later: `${prefix}.zone-b` };
  await createTopic(brokers, topics.named, 3);
  await createTopic(brokers, topics.other, 1);
  await createTopic(brokers, topics.matched, 2);
  const producer = await ownProducer();
  for (const partition of [0, 1, 2]) {
    await sendValues(producer, topics.named, [eventMessage(`named-${partition}`)], partition);
  }
  await sendValues(producer, topics.other, [eventMessage('other')]);
  await sendValues(producer, topics.matched, [eventMessage('matched')], 1);

  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topics.named, topics.other, `${prefix}.zone-*`] });
  await untilStored(store, 5);
  await untilReady(source);

  await createTopic(brokers, topics.later, 1);
  await sendValues(producer, topics.later, [eventMessage('later')]);
  await untilStored(store, 6);
  expect(await searchedIds(store)).toEqual(['later', 'matched', 'named-0', 'named-1', 'named-2', 'other']);
  expect(await store.sourceOffset(topics.matched, 1)).toBe(1n);
});

it('a named topic that does not exist is no error: /readyz names it until it is there', async () => {
  const brokers = inject('kafkaBrokers');
  const [present, awaited] = [uniqueName('present'), uniqueName('awaited')];
  await createTopic(brokers, present, 1);
  const producer = await ownProducer();
  await sendValues(producer, present, [eventMessage('first')]);

  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [present, awaited] });
  await untilStored(store, 1);
  await until(
    'the source to name the topic',
    () => source.reasonsNotReady(),
    (reasons) => String(reasons) === `no Kafka topic is named ${awaited}`,
  );

  await createTopic(brokers, awaited, 1);
  await sendValues(producer, awaited, [eventMessage('second')]);
  await untilStored(store, 2);
  await untilReady(source);
});

it('a partition that is added to a topic is read from its beginning', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('growing');
  await createTopic(brokers, topic, 1);
  const producer = await ownProducer();
  await sendValues(producer, topic, [eventMessage('before')]);
  const store = await storeIn(temporaryFolder());
  sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 1);
  await withAdmin(brokers, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
  const freshProducer = await ownProducer();
  await sendValues(freshProducer, topic, [eventMessage('after')], 1);
  await untilStored(store, 2);
  expect(await searchedIds(store)).toEqual(['after', 'before']);
});

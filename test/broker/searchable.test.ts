import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

it('an event that has just been produced is searchable, again and again', async () => {
  const topic = uniqueName('fresh');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const producer = await ownProducer();
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilReady(source);
  const latenciesMs: number[] = [];
  for (let round = 0; round < 20; round++) {
    const logId = `fresh-${round}`;
    const start = performance.now();
    await sendValues(producer, topic, [eventMessage(logId)]);
    await until(
      'the event',
      () => searchedIds(store),
      (ids) => ids.includes(logId),
    );
    latenciesMs.push(Math.round(performance.now() - start));
  }
  expect(latenciesMs).toHaveLength(20);
  console.log(`produce to searchable, ms: ${latenciesMs.sort((a, b) => a - b).join(' ')}`);
});

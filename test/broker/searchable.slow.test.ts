import { expect, inject, it } from 'vitest';
import { percentile } from '../../bench/report/figures.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

/** The promised time, in milliseconds. It is held to the median, because a busy machine delays some events. */
const WITHIN_MS = 1_000;

it('an event that has just been produced is searchable within a second, again and again', async () => {
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
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const samples = `produce to searchable, ms: ${sorted.join(' ')}`;
  console.log(samples);
  expect(percentile(sorted, 0.5), samples).toBeLessThan(WITHIN_MS);
});

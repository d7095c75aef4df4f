import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { writeEventFile } from './event-file.ts';
import { produceFile } from './foreign-producer.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';

const EVENTS = 5_000;

it('events by the Java client, whose snappy has a framing of its own, are found, each exactly once', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('java-snappy');
  const file = join(temporaryFolder(), 'events.ndjson');
  const ids = (await writeEventFile(file, EVENTS, 7)).sort();
  await createTopic(brokers, topic, 1);
  await produceFile(brokers, topic, file, 'snappy', 'java');
  const store = await storeIn(temporaryFolder());
  sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, EVENTS);
  expect(await searchedIds(store)).toEqual(ids);
});

import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { alteredStore } from './altered-store.ts';
import { writeEventFile } from './event-file.ts';
import { produceFile } from './foreign-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const EVENTS = 30_000;

it('batches that the store refuses are read again: nothing is lost, nothing repeated', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('refused');
  await createTopic(brokers, topic, 3);
  const file = join(temporaryFolder(), 'events.ndjson');
  const ids = (await writeEventFile(file, EVENTS, 77)).sort();
  await produceFile(brokers, topic, file, 'none');

  const store = await storeIn(temporaryFolder());
  let appends = 0;
  const refusing = alteredStore(store, {
    append: async (batch) => {
      appends++;
      // The second is refused together with the one behind it, the fifth alone.
      if (appends === 2 || appends === 3 || appends === 5) {
        throw new Error('no space left on the device');
      }
      return await store.append(batch);
    },
  });
  const source = sourceUnderTest({ store: refusing, topics: [topic] });
  await until(
    'the source to tell of the refusal',
    () => source.reasonsNotReady().join(),
    (reasons) => reasons.includes('no space left'),
  );
  await untilStored(store, EVENTS);
  await untilReady(source);
  expect(await searchedIds(store)).toEqual(ids);
  expect(await store.stats()).toMatchObject({ events: EVENTS, duplicateEvents: 0 });
  expect(source.counters().messages).toBeGreaterThan(EVENTS);
});

import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

it('reads what was committed and nothing that was aborted, and passes over the markers in between', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('transactions');
  await createTopic(brokers, topic, 1);
  const producer = await ownProducer(brokers, uniqueName('transaction'));
  const send = async (logId: string, outcome: 'commit' | 'abort'): Promise<void> => {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ value: eventMessage(logId), partition: 0 }] });
    await transaction[outcome]();
  };
  await send('committed-0', 'commit');
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 1);
  for (const [logId, outcome] of [
    ['aborted-0', 'abort'],
    ['aborted-1', 'abort'],
    ['committed-1', 'commit'],
    ['aborted-2', 'abort'],
  ] as const) {
    await send(logId, outcome);
  }
  await untilStored(store, 2);
  // Each of the five transactions is a message and a marker.
  await until(
    'the source offset to pass the last marker',
    () => store.sourceOffset(topic, 0),
    (sourceOffset) => sourceOffset === 10n,
  );
  expect(await searchedIds(store)).toEqual(['committed-0', 'committed-1']);
  expect(source.counters().outOfRangeOffsets).toBe(0);
  expect(source.complaints).toEqual([]);

  // All at once, the last message and its marker in one fetch.
  await send('committed-2', 'commit');
  const fromTheStart = await storeIn(temporaryFolder());
  sourceUnderTest({ store: fromTheStart, topics: [topic] });
  await until(
    'the source offset to pass the last marker',
    () => fromTheStart.sourceOffset(topic, 0),
    (sourceOffset) => sourceOffset === 12n,
  );
  expect(await searchedIds(fromTheStart)).toEqual(['committed-0', 'committed-1', 'committed-2']);
});

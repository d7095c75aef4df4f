import { expect, inject, it, onTestFinished } from 'vitest';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { runHere } from '../src/cli/command-run.ts';
import { startApp } from '../src/running-app.ts';
import { ownProducer, sendEvents } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

it('a topic is read again from a time on: lost events come back, others are duplicates, and so it is after a restart', async () => {
  const topic = uniqueName('rewind');
  await createTopic(inject('kafkaBrokers'), topic, 2);
  const producer = await ownProducer();
  const send = (ids: readonly string[], partition?: number) => sendEvents(producer, topic, ids, partition);
  await send(['old-0', 'old-1']);
  await send(['old-2'], 1);
  // Kafka keeps the time of a message in milliseconds.
  const since = Date.now() + 1;
  await until('the next millisecond', () => Date.now() >= since);
  await send(['new-0', 'new-1']);

  // A folder that lost what the other one stored, as one that was put back from a copy.
  const reading = await storeIn(temporaryFolder());
  const first = sourceUnderTest({ store: reading, topics: [topic] });
  await untilStored(reading, 5);
  await first.stop();
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
  const offsets = await Promise.all(
    [0, 1].map(async (partition) => ({ topic, partition, nextOffset: await reading.sourceOffset(topic, partition) })),
  );
  await store.append(canonicalBatch([], { sourceOffsets: offsets.map((one) => ({ ...one, nextOffset: one.nextOffset ?? 0n })) }));

  const source = sourceUnderTest({ store, topics: [topic] });
  await until('the source to be ready', () => source.reasonsNotReady().length === 0);
  expect(await searchedIds(store)).toEqual([]);
  const app = await startApp({ kafka: source });
  onTestFinished(() => app.stop());
  const topicIds = () => Promise.all([0, 1].map((partition) => store.sourceTopicId(topic, partition)));
  const id = await reading.sourceTopicId(topic, 0);
  const rewind = (name: string, time: number) => runHere(['kafka', 'rewind', '--topic', name, '--since', String(time), '--url', app.url]);
  expect(await rewind(topic, since)).toEqual({ status: 0, stdout: '', stderr: 'partition 0 is read again from 2 to 4\n' });
  await untilStored(store, 2);
  expect(await searchedIds(store)).toEqual(['new-0', 'new-1']);

  expect(await rewind(topic, 0)).toMatchObject({
    ...{ status: 0, stderr: 'partition 0 is read again from 0 to 4\npartition 1 is read again from 0 to 1\n' },
  });
  await untilStored(store, 5);
  await until('the duplicates to be counted', async () => (await store.stats()).duplicateEvents === 2);
  expect(await searchedIds(store)).toEqual(['new-0', 'new-1', 'old-0', 'old-1', 'old-2']);
  expect([await store.sourceOffset(topic, 0), await topicIds()]).toEqual([4n, [id, id]]);

  const tomorrow = Date.now() + 86_400_000;
  expect((await rewind(topic, tomorrow)).stderr).toBe('nothing is read again: no partition has read a message since then\n');
  expect(await rewind('another', since)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('answered 409: topic another is not read here; allowed:'),
  });
  await source.stop();
  const again = sourceUnderTest({ store, topics: [topic] });
  await send(['last']);
  await untilStored(store, 6);
  expect((await store.stats()).duplicateEvents).toBe(2);
  expect(again.complaints).toEqual([]);
});

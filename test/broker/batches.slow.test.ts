import { Readable } from 'node:stream';
import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { inHalves, PACK, type Pack, SKIPPABLE, xerial } from '../ingest/kafka/built-batch.ts';
import { eventMessage } from './event-file.ts';
import { produceOneBatch } from './foreign-producer.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { sendPacked } from './packed-batch.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';

async function storedFrom(topic: string, events: number): Promise<readonly string[]> {
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, events);
  await source.stop();
  expect(source.complaints).toEqual([]);
  expect(await store.stats()).toMatchObject({ events, deadLetters: 0 });
  return await searchedIds(store);
}

it('a batch of 130,000 events is stored, and what follows it', async () => {
  const topic = uniqueName('many');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const ids = Array.from({ length: 130_000 }, (_, index) => `e-${index}`);
  const lines = Readable.from(ids.map((id) => Buffer.concat([eventMessage(id), Buffer.from('\n')])));
  await produceOneBatch(inject('kafkaBrokers'), topic, lines, 'zstd');
  await sendValues(await ownProducer(), topic, [eventMessage('e-last')]);
  expect(await storedFrom(topic, 130_001)).toEqual([...ids, 'e-last'].sort());
});

it('batches in several frames, members and streams are stored whole', async () => {
  const topic = uniqueName('frames');
  await createTopic(inject('kafkaBrokers'), topic, 1);
  const producer = await ownProducer();
  const sent: string[] = [];
  const send = async (name: string, codec: Parameters<typeof sendPacked>[3], pack: Pack): Promise<void> => {
    const ids = Array.from({ length: 1000 }, (_, index) => `${name}-${index}`);
    sent.push(...ids);
    await sendPacked(
      producer,
      { topic },
      ids.map((id) => eventMessage(id)),
      codec,
      pack,
    );
  };
  await send('frames', 'ZSTD', inHalves(PACK.zstd));
  await send('skippable', 'ZSTD', (plain) => Buffer.concat([SKIPPABLE, PACK.zstd(plain)]));
  await send('members', 'GZIP', inHalves(PACK.gzip));
  await send('streams', 'Snappy', inHalves(xerial));
  await send('lz4', 'LZ4', PACK.lz4);
  expect(await storedFrom(topic, sent.length)).toEqual(sent.sort());
});

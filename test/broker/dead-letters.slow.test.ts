import { expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';

const THREE_MEGABYTES = 3 * 1024 * 1024;

it('malformed, empty and 3 MB messages become dead letters with their place; good ones are stored, tombstones counted', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('mixed');
  await createTopic(brokers, topic, 2);
  const large = eventMessage('large', { log: { body: 'x'.repeat(THREE_MEGABYTES) } });
  const values: readonly (Buffer | null)[] = [
    eventMessage('good-0'),
    Buffer.from('{"logId":"cut off","shieldZoneId":1,"time'),
    Buffer.alloc(0),
    eventMessage('good-1'),
    null,
    large,
    eventMessage('good-2'),
    Buffer.from([0xff, 0xfe, 0x00]),
    eventMessage('bad-zone', { shieldZoneId: 'one' }),
    eventMessage('from-the-future', { timestamp: Date.now() + 3_600_000 }),
    eventMessage('good-3'),
  ];
  const producer = await ownProducer();
  for (const value of values) {
    await sendValues(producer, topic, [value], 1);
  }
  await sendValues(producer, topic, [eventMessage('expired', { timestamp: 0 }), eventMessage('good-4')], 0);

  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 5);
  await source.stop();

  expect(await searchedIds(store)).toEqual(['good-0', 'good-1', 'good-2', 'good-3', 'good-4']);
  expect([await store.sourceOffset(topic, 0), await store.sourceOffset(topic, 1)]).toEqual([2n, BigInt(values.length)]);
  expect((await store.stats()).expiredEvents).toBe(1);
  const letters = await store.listDeadLetters({ zones: 'all', limit: 100 });
  expect(letters.map(({ offset }) => offset)).toEqual([1n, 2n, 5n, 7n, 8n, 9n]);
  expect(source.counters().tombstones).toBe(1);
  for (const letter of letters) {
    const sent = values[Number(letter.offset)];
    expect(letter).toMatchObject({ source: 'kafka', topic, partition: 1, index: null });
    const message = sent ?? Buffer.alloc(0);
    expect([letter.sizeBytes, letter.isWhole]).toEqual([message.length, message.length <= 1024 * 1024]);
    const kept = letter.isWhole ? message : message.subarray(0, 64 * 1024);
    expect(Buffer.compare(letter.bytes, kept)).toBe(0);
    expect(letter.reason).not.toBe('');
  }
});

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { addKafkaMessage } from '../../../ingest/upload/message-events.ts';
import type { EventBatch } from '../../../store/event-store.ts';
import { decodedEvents } from './decoded-fields.ts';
import { HOUR, NOW, RULES, rawEvent } from './raw-events.ts';

test('a Kafka message of any kind moves its partition behind it', () => {
  const builder = new BatchBuilder(RULES);
  addKafkaMessage(builder, 'a', 0, 10n, Buffer.from(rawEvent()));
  addKafkaMessage(builder, 'a', 1, 5n, Buffer.from(rawEvent({ timestamp: NOW - 100 * HOUR })));
  addKafkaMessage(builder, 'b', 0, 2n ** 53n, Buffer.from('broken'));
  addKafkaMessage(builder, 'a', 0, 11n, new Uint8Array(0));
  addKafkaMessage(builder, 'c', 2, 0n, new Uint8Array(0));
  const { sourceOffsets, eventCount, expiredCount, deadLetters } = builder.take();
  expect(sourceOffsets).toEqual([
    { topic: 'a', partition: 0, nextOffset: 12n },
    { topic: 'a', partition: 1, nextOffset: 6n },
    { topic: 'b', partition: 0, nextOffset: 2n ** 53n + 1n },
    { topic: 'c', partition: 2, nextOffset: 1n },
  ]);
  expect({ eventCount, expiredCount }).toEqual({ eventCount: 1, expiredCount: 1 });
  expect(deadLetters.map(({ topic, partition, offset, reason }) => [topic, partition, offset, reason])).toEqual([
    ['b', 0, 2n ** 53n, 'the event is not JSON: unexpected "broken" at byte 0'],
    ['a', 0, 11n, 'the message has an empty value: a JSON object is required'],
    ['c', 2, 0n, 'the message has an empty value: a JSON object is required'],
  ]);
});

test('a source offset has the id that its topic had when it was last moved', () => {
  const builder = new BatchBuilder(RULES);
  addKafkaMessage(builder, 'a', 0, 10n, Buffer.from(rawEvent()));
  builder.moveTo('a', 0, 11n, 'id-of-a');
  addKafkaMessage(builder, 'a', 0, 11n, Buffer.from('broken'));
  builder.moveTo('a', 1, 3n, 'id-of-a');
  builder.moveTo('a', 1, 4n);
  builder.moveTo('b', 0, 7n, 'id-of-b');
  expect(builder.take().sourceOffsets).toEqual([
    { topic: 'a', partition: 0, nextOffset: 12n, topicId: 'id-of-a' },
    { topic: 'a', partition: 1, nextOffset: 4n },
    { topic: 'b', partition: 0, nextOffset: 7n, topicId: 'id-of-b' },
  ]);
  addKafkaMessage(builder, 'a', 0, 12n, Buffer.from('broken'));
  expect(builder.take().sourceOffsets).toEqual([{ topic: 'a', partition: 0, nextOffset: 13n }]);
});

test('NULs before the event of a Kafka message are dropped, and a message of nothing else is none', () => {
  const builder = new BatchBuilder(RULES);
  const nuls = Buffer.alloc(2_000_000);
  addKafkaMessage(builder, 'a', 0, 10n, Buffer.concat([nuls, Buffer.from(rawEvent())]));
  expect(builder.eventCount).toBe(1);
  addKafkaMessage(builder, 'a', 0, 11n, Buffer.alloc(3));
  expect(builder.take().deadLetters).toMatchObject([{ bytes: new Uint8Array(3), offset: 11n }]);
});

test('after a batch was taken the next one begins with nothing', () => {
  const builder = new BatchBuilder(RULES);
  addKafkaMessage(builder, 'a', 0, 10n, Buffer.from(rawEvent()));
  builder.addEvent('http', Buffer.from('x'));
  builder.take();
  expect(builder.isEmpty).toBe(true);
  expect(builder.byteLength).toBe(0);
  addKafkaMessage(builder, 'a', 0, 11n, Buffer.from(rawEvent({ logId: 'b' })));
  const { fields, logs, ...rest } = builder.take();
  expect(decodedEvents(fields)).toEqual([{ logId: 'b', shieldZoneId: 7, timestamp: BigInt(NOW) }]);
  expect(Buffer.concat(logs).toString()).toBe('{}\n');
  expect(rest).toEqual({ eventCount: 1, sourceOffsets: [{ topic: 'a', partition: 0, nextOffset: 12n }], deadLetters: [], expiredCount: 0 });
});

test('a dead letter of 1 MiB is kept whole, of a longer one the start, and both count into the size of the batch', () => {
  const builder = new BatchBuilder(RULES);
  const [whole, long] = [Buffer.alloc(1024 * 1024, 'x'), Buffer.alloc(3_000_000, 'x')];
  const sha256 = createHash('sha256').update(long).digest();
  addKafkaMessage(builder, 'a', 0, 1n, whole);
  addKafkaMessage(builder, 'a', 0, 2n, long);
  expect(builder.byteLength).toBeGreaterThan(1024 * 1024 + 64 * 1024);
  expect(builder.byteLength).toBeLessThan(1024 * 1024 + 66 * 1024);
  for (const message of [whole, long]) message.fill('y');
  const [first, second] = builder.take().deadLetters;
  expect([first?.cut, Buffer.from(first?.bytes ?? []).equals(Buffer.alloc(1024 * 1024, 'x'))]).toEqual([null, true]);
  expect(second?.cut).toEqual({ sizeBytes: 3_000_000, sha256 });
  expect(Buffer.from(second?.bytes ?? []).equals(Buffer.alloc(64 * 1024, 'x'))).toBe(true);
});

test('a rejected event between good ones leaves no trace in the columns and the logs', () => {
  const builder = new BatchBuilder(RULES);
  const ids = Array.from({ length: 500 }, (_, index) => `e${index}`);
  const logs = ids.map((_id, index) => ({ filling: 'x'.repeat(index * 10) }));
  for (const [index, logId] of ids.entries()) {
    const event = rawEvent({ logId, log: logs[index] });
    builder.addEvent('file', Buffer.from(event));
    builder.addEvent('file', Buffer.from(event.slice(0, -2)));
    builder.addEvent('file', Buffer.from(event.replace('"shieldZoneId":7', '"shieldZoneId":7.5')));
  }
  const batch = builder.take();
  expect(batch.eventCount).toBe(500);
  expect(batch.deadLetters).toHaveLength(1000);
  expect(decodedEvents(batch.fields)).toEqual(ids.map((logId) => ({ logId, shieldZoneId: 7, timestamp: BigInt(NOW) })));
  expect(Buffer.concat(batch.logs).toString()).toBe(logs.map((log) => `${JSON.stringify(log)}\n`).join(''));
});

/** Whether a chunk of the one begins where one of the other does. */
function shareMemory(some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return some.some((chunk) => others.some(({ buffer, byteOffset }) => buffer === chunk.buffer && byteOffset === chunk.byteOffset));
}

test.each(['fields', 'logs'] as const)('the memory of the %s of a batch is used again once it is released, and not before', (part) => {
  const builder = new BatchBuilder(RULES);
  const fill = (mark: string) => {
    const filling = mark.repeat(1_000);
    const where = part === 'fields' ? { ua: filling, log: {} } : { log: { filling } };
    for (let index = 0; index < 3_000; index += 1) {
      builder.addEvent('http', Buffer.from(JSON.stringify({ shieldZoneId: 1, timestamp: RULES.now(), ...where })));
    }
    return builder.take();
  };
  const chunksOf = ({ fields, logs }: EventBatch) => ({ fields: [...fields.values.flat(), ...fields.masks], logs });
  const text = (batch: EventBatch) => Buffer.concat(chunksOf(batch)[part]).toString();
  const first = fill('a');
  const firstText = text(first);
  const second = fill('b');
  expect(text(first)).toBe(firstText);
  builder.release(first);
  const third = fill('c');
  expect(shareMemory(chunksOf(third)[part], chunksOf(first)[part])).toBe(true);
  expect(shareMemory(chunksOf(third)[part], chunksOf(second)[part])).toBe(false);
  expect(text(third).match(/c{1000}/g)).toHaveLength(3_000);
  expect(text(second).match(/b{1000}/g)).toHaveLength(3_000);
});

test('a batch is as large as its columns and its logs together', () => {
  const builder = new BatchBuilder(RULES);
  builder.addEvent('http', Buffer.from(rawEvent({ log: { filling: 'x'.repeat(100_000) } })));
  builder.addEvent('http', Buffer.from(rawEvent({ url: 'y'.repeat(200_000) })));
  const { byteLength } = builder;
  const { fields, logs } = builder.take();
  expect(byteLength).toBe(Buffer.concat([...fields.values.flat(), ...fields.masks, ...logs]).length);
  expect(byteLength).toBeGreaterThan(165_000);
});

import { expect, inject, it, onTestFinished } from 'vitest';
import { replayDeadLetters } from '../../ingest/upload/dead-letter-replay.ts';
import { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { builtRecord, PACK } from '../ingest/kafka/built-batch.ts';
import { runHere } from '../src/cli/command-run.ts';
import { ask, startApp } from '../src/running-app.ts';
import { ownProducer, sendEvents } from './own-producer.ts';
import { sendPacked } from './packed-batch.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';
import { until } from './until.ts';

const BOMB_EVENTS = 3;

/** The broker takes a batch that unpacks to 90 MiB, and refuses one that it cannot unpack itself. */
function bomb(): Buffer {
  const value = Buffer.alloc(30 * 1024 * 1024, ' ');
  return PACK.zstd(Buffer.concat(Array.from({ length: BOMB_EVENTS }, (_, index) => builtRecord({ value }, index))));
}

/** Partition 0 holds two events, then a batch that unpacks to too much, then two events; partition 1 holds one event. */
async function topicWithBomb(): Promise<string> {
  const topic = uniqueName('blocked');
  await createTopic(inject('kafkaBrokers'), topic, 2);
  const producer = await ownProducer();
  const send = (ids: readonly string[], partition?: number) => sendEvents(producer, topic, ids, partition);
  await send(['before-0', 'before-1']);
  await sendPacked(
    producer,
    { topic },
    Array.from({ length: BOMB_EVENTS }, () => Buffer.from('x')),
    'ZSTD',
    bomb,
  );
  await send(['behind-0', 'behind-1']);
  await send(['beside'], 1);
  return topic;
}

const waiting = (topic: string) => ({
  topic,
  partition: 0,
  offset: 2n,
  next: 5n,
  reason: expect.stringMatching(/^unpacks to more than 64 MiB of zstd$/),
});

it('a batch that cannot be decoded holds up its own partition, also after a restart, until it is skipped', async () => {
  const topic = await topicWithBomb();
  const store = await storeIn(temporaryFolder());
  const first = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 3);
  await until('the partition to wait', () => first.blocked().length === 1);
  await first.stop();

  const source = sourceUnderTest({ store, topics: [topic] });
  await until('the partition to wait', () => source.blocked().length === 1);
  expect(source.blocked()).toEqual([waiting(topic)]);
  expect(source.reasonsNotReady()).toEqual([]);
  expect(source.complaints).toEqual([
    expect.stringMatching(`^Kafka topic ${topic} partition 0 waits at offset 2: the batch there unpacks to more than 64 MiB of zstd; .*`),
  ]);
  expect(source.lag()).toBe(BOMB_EVENTS + 2);

  const producer = await ownProducer();
  await sendEvents(producer, topic, ['later']);
  await sendEvents(producer, topic, ['beside-later'], 1);
  await untilStored(store, 4);
  await until('the lag to grow, though the partition waits', () => source.lag() === BOMB_EVENTS + 3);
  expect(await searchedIds(store)).toEqual(['before-0', 'before-1', 'beside', 'beside-later']);

  const refused: readonly (readonly [partition: number, offset: bigint, to: bigint | null, why: string])[] = [
    [0, 3n, null, `topic ${topic} partition 0 waits at offset 2, not 3`],
    [0, 2n, 4n, '--to 4 is not allowed'],
    [1, 2n, null, `topic ${topic} partition 1 waits at no batch, and is read up to offset 2`],
    [2, 2n, null, `topic ${topic} partition 2 is not read here`],
  ];
  for (const [partition, offset, to, why] of refused) await expect(source.skip(topic, partition, offset, to)).rejects.toThrow(why);
  expect((await store.stats()).deadLetters).toBe(0);

  const app = await startApp({ kafka: source });
  onTestFinished(() => app.stop());
  const place = `topic ${topic} partition 0 waits at offset 2: the batch there unpacks to more than 64 MiB of zstd; `;
  const { status, body } = await ask(app, '/readyz');
  expect([status, body]).toEqual([200, { status: 'ready', reasons: [expect.stringContaining(`kafka: ${place}`)] }]);
  expect((await ask(app, '/metrics')).text).toContain(`shieldlog_kafka_blocked_offset{topic="${topic}",partition="0"} 2\n`);
  const skip = (offset: number) => runHere(['kafka', 'skip', topic, '0', String(offset), '--url', app.url]);
  expect(await skip(3)).toMatchObject({ status: 1, stderr: expect.stringContaining('waits at offset 2, not 3; nothing is skipped') });
  const done = 'skipped; its bytes are a dead letter, and reading goes on at offset 5\n';
  expect(await skip(2)).toEqual({ status: 0, stdout: '', stderr: done });
  await untilStored(store, 7);
  expect(source.blocked()).toEqual([]);
  expect(source.lag()).toBe(0);
  expect(await searchedIds(store)).toEqual(['before-0', 'before-1', 'behind-0', 'behind-1', 'beside', 'beside-later', 'later']);
  const [letter, ...others] = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(others).toEqual([]);
  expect(letter).toMatchObject({ source: 'kafka', topic, partition: 0, offset: 2n, zoneId: null, isWhole: false });
  expect(letter?.reason).toMatch(
    /^the batch of offsets 2 to 4 unpacks to more than 64 MiB of zstd; it was skipped by shieldlog kafka skip$/,
  );
  expect(letter?.bytes.length).toBe(letter?.sizeBytes);
  expect(Buffer.from(letter?.bytes ?? []).readBigInt64BE(0)).toBe(2n);
  expect(
    await replayDeadLetters(store, { now: Date.now, retentionMs: RETENTION_MS, threads: new MappingThreads(new Map()), zones: 'all' }),
  ).toEqual({
    ...{ replayed: 0, stillRejected: 0, notReplayable: 1 },
  });
  await expect(source.skip(topic, 0, 2n, null)).rejects.toThrow('waits at no batch');
  expect(await store.sourceOffset(topic, 0)).toBe(8n);
});

it('a partition goes on by itself when the batch is gone', async () => {
  const topic = await topicWithBomb();
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic], blockedRetryMs: 100 });
  await until('the partition to wait', () => source.blocked().length === 1);
  await untilStored(store, 3);
  await withAdmin(inject('kafkaBrokers'), async (admin) => {
    // kafkajs deletes records only of a topic that its client knows.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '5' }] });
  });
  await untilStored(store, 5);
  await until('the partition to be read', () => source.blocked().length === 0);
  expect(await searchedIds(store)).toEqual(['before-0', 'before-1', 'behind-0', 'behind-1', 'beside']);
  expect(source.counters()).toMatchObject({ reconnects: 0 });
});

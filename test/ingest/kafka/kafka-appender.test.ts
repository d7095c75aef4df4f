import { describe, expect, it } from 'vitest';
import type { PartitionRecords } from '../../../ingest/event/batch-builder.ts';
import { KafkaAppender, kafkaCounters } from '../../../ingest/kafka/kafka-appender.ts';
import { decodeRecordSet, oneRecord } from '../../../ingest/kafka/record-set.ts';
import type { EventStore } from '../../../store/event-store.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { builtBatch, CODEC, PACK } from './built-batch.ts';

function message(logId: string, more: Readonly<Record<string, unknown>> = {}): Buffer {
  return Buffer.from(JSON.stringify({ logId, shieldZoneId: 1, timestamp: Date.now(), ...more }));
}

function appenderTo(store: EventStore) {
  const failures: string[] = [];
  const counters = kafkaCounters();
  const appender = new KafkaAppender({
    store,
    now: Date.now,
    retentionMs: RETENTION_MS,
    counters,
    onAppended: () => {},
    onFailure: ({ message: text }) => failures.push(text),
  });
  return { appender, counters, failures };
}

it('stores messages and their offsets together', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender, failures } = appenderTo(store);
  appender.add('t', 0, oneRecord(41n, message('a')), 0);
  appender.add('t', 3, oneRecord(7n, message('b')), 0);
  await appender.drain();
  expect([(await store.stats()).events, await store.sourceOffset('t', 0), await store.sourceOffset('t', 3), failures]).toEqual([
    2,
    42n,
    8n,
    [],
  ]);
});

it('counts the events that were repaired, and those whose ip is no address', async () => {
  const { appender, counters } = appenderTo(await storeIn(temporaryFolder()));
  appender.add('t', 0, oneRecord(0n, message('a')), 0);
  appender.add('t', 0, oneRecord(1n, Buffer.from(message('caf\xe9').toString(), 'latin1')), 0);
  appender.add('t', 0, oneRecord(2n, message('\ud83d')), 0);
  appender.add('t', 0, oneRecord(3n, message('b', { ip: '192.0.2.7:9989' })), 0);
  appender.add('t', 0, oneRecord(4n, message('c', { ip: '192.0.2.7, 192.0.2.8' })), 0);
  await appender.drain();
  expect([counters.repairedEvents, counters.unknownIps]).toEqual([3, 1]);
});

it('appends by itself, a moment after the first message', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, oneRecord(0n, message('a')), 0);
  appender.flushWhenDue();
  await expect.poll(async () => (await store.stats()).events).toBe(1);
});

it('forgets what is discarded before it was appended', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, oneRecord(0n, message('a')), 0);
  appender.discard();
  await appender.drain();
  expect([(await store.stats()).events, await store.sourceOffset('t', 0)]).toEqual([0, undefined]);
});

it('tells of a failed append once and drops what was collected behind it', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender, failures } = appenderTo(store);
  await store.close();
  appender.add('t', 0, oneRecord(0n, message('a')), 0);
  const drained = appender.drain();
  appender.add('t', 0, oneRecord(1n, message('b')), 0);
  await drained;
  await appender.drain();
  expect(failures).toEqual(['the store is closed']);
  expect(appender.pendingBytes).toBe(0);
});

it('stores the source offset behind messages that hold no event', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, oneRecord(0n, Buffer.alloc(0)), 0);
  appender.moveTo('t', 0, 5n, undefined);
  await appender.drain();
  expect([await store.sourceOffset('t', 0), (await store.stats()).deadLetters]).toEqual([5n, 1]);
});

it('counts a tombstone, which is no dead letter, and passes it', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender, counters } = appenderTo(store);
  appender.add('t', 0, oneRecord(6n, null), 0);
  appender.moveTo('t', 0, 7n, undefined);
  await appender.drain();
  expect([await store.sourceOffset('t', 0), (await store.stats()).deadLetters, counters.tombstones]).toEqual([7n, 0, 1]);
});

it('stores several events of one message, with the counts of each, and their letters', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender, counters } = appenderTo(store);
  const repaired = message('caf\xe9').toString();
  appender.add('t', 0, oneRecord(6n, Buffer.from(`[${message('a')},${repaired},{},${repaired.replace('caf', 'the')},3]`, 'latin1')), 0);
  await appender.drain();
  expect([(await store.stats()).events, await store.sourceOffset('t', 0), counters.repairedEvents]).toEqual([3, 7n, 2]);
  const letters = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(letters.map(({ offset, index, bytes }) => [offset, index, Buffer.from(bytes).toString()])).toEqual([
    [6n, 2, '{}'],
    [6n, 4, '3'],
  ]);
});

describe('the records of one batch', () => {
  const base = 1_000n;
  const tombstone = null;
  const usual = (index: number): string => message(`usual-${index}`).toString();
  const withoutId = JSON.stringify({ shieldZoneId: 1, timestamp: Date.now() });
  const withLog = JSON.stringify({ shieldZoneId: 1, timestamp: Date.now(), log: {} });
  const values: readonly (string | null)[] = [
    ...Array.from({ length: 40 }, (_, index) => usual(index)),
    withLog,
    withoutId,
    tombstone,
    '{"shieldZoneId":1}',
    `[${usual(40)},{"shieldZoneId":2},${withoutId}]`,
    usual(41),
    '',
    'no JSON',
    JSON.stringify({ shieldZoneId: 1, timestamp: 1 }),
    `\0\0${usual(42)}`,
    JSON.stringify({ logId: 'long', shieldZoneId: 1, timestamp: Date.now(), ua: 'x'.repeat(100_000) }),
    ...Array.from({ length: 200 }, () => withLog),
    tombstone,
  ];
  /** Every third offset is there. */
  const offsetOf = (index: number): bigint => base + 3n * BigInt(index);
  const set = builtBatch({
    base,
    records: values.map((value, index) => ({
      value: value === null ? null : Buffer.from(value),
      delta: 3 * index,
      ...(index % 2 === 0 ? {} : { key: Buffer.from('key'), headers: [['name', Buffer.from('value')] as const] }),
    })),
    lastDelta: 3 * values.length + 5,
    codec: CODEC.lz4,
    pack: PACK.lz4,
  });
  const [batch] = decodeRecordSet(set);
  const read = (): PartitionRecords => {
    const records = batch?.read();
    if (records === undefined || 'reason' in records) throw new Error(records?.reason);
    return records;
  };
  const idsOf = async (store: EventStore): Promise<string[]> => {
    const window = { fromMs: Date.now() - RETENTION_MS, toMs: Date.now() + 1 };
    const page = { index: 0, size: 1_000 };
    const found = await store.search({ zones: [1], window, where: { kind: 'everything' }, page, output: { kind: 'rows' } });
    return (await rowsOf(found)).map(({ logId }) => logId).sort();
  };

  it('become events with the ids of their offsets, and dead letters with theirs', async () => {
    const store = await storeIn(temporaryFolder());
    const { appender, counters, failures } = appenderTo(store);
    appender.add('t', 3, read(), 0);
    await appender.drain();
    const derived = values.flatMap((value, index) => (value === withLog || value === withoutId ? [`t-3-${offsetOf(index)}`] : []));
    const named = Array.from({ length: 43 }, (_, index) => `usual-${index}`);
    expect(await idsOf(store)).toEqual([...derived, ...named, 'long', `t-3-${offsetOf(44)}:2`].sort());
    const letters = await store.listDeadLetters({ zones: 'all', limit: 10 });
    expect(letters.map(({ offset, index, bytes }) => [offset, index, Buffer.from(bytes).toString()])).toEqual([
      [offsetOf(43), null, '{"shieldZoneId":1}'],
      [offsetOf(44), 1, '{"shieldZoneId":2}'],
      [offsetOf(46), null, ''],
      [offsetOf(47), null, 'no JSON'],
    ]);
    expect([counters.tombstones, counters.cutTexts, failures]).toEqual([2, 1, []]);
    // The last one is a tombstone, whose offset the caller passes.
    expect(await store.sourceOffset('t', 3)).toBe(offsetOf(values.length - 2) + 1n);
    expect(await store.stats()).toMatchObject({ deadLetters: 4, expiredEvents: 1 });
  });

  it('are taken from any of them on', async () => {
    const store = await storeIn(temporaryFolder());
    const { appender, counters } = appenderTo(store);
    appender.add('t', 3, read(), 51);
    await appender.drain();
    expect(await idsOf(store)).toEqual(values.slice(51, -1).map((_, index) => `t-3-${offsetOf(51 + index)}`));
    expect(counters.tombstones).toBe(1);
  });
});

import { expect, it } from 'vitest';
import { KafkaAppender } from '../../../ingest/kafka/kafka-appender.ts';
import type { EventStore } from '../../../store/event-store.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';

function message(logId: string, more: Readonly<Record<string, unknown>> = {}): Buffer {
  return Buffer.from(JSON.stringify({ logId, shieldZoneId: 1, timestamp: Date.now(), ...more }));
}

function appenderTo(store: EventStore) {
  const failures: string[] = [];
  const appender = new KafkaAppender({
    store,
    now: Date.now,
    retentionMs: RETENTION_MS,
    onAppended: () => {},
    onFailure: ({ message: text }) => failures.push(text),
  });
  return { appender, failures };
}

it('stores messages and their offsets together', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender, failures } = appenderTo(store);
  appender.add('t', 0, 41n, message('a'));
  appender.add('t', 3, 7n, message('b'));
  await appender.drain();
  expect([(await store.stats()).events, await store.sourceOffset('t', 0), await store.sourceOffset('t', 3), failures]).toEqual([
    2,
    42n,
    8n,
    [],
  ]);
});

it('counts the events that were repaired, and those whose ip is no address', async () => {
  const { appender } = appenderTo(await storeIn(temporaryFolder()));
  appender.add('t', 0, 0n, message('a'));
  appender.add('t', 0, 1n, Buffer.from(message('caf\xe9').toString(), 'latin1'));
  appender.add('t', 0, 2n, message('\ud83d'));
  appender.add('t', 0, 3n, message('b', { ip: '192.0.2.7:9989' }));
  appender.add('t', 0, 4n, message('c', { ip: '192.0.2.7, 192.0.2.8' }));
  await appender.drain();
  expect([appender.repairedEvents, appender.unknownIps]).toEqual([3, 1]);
});

it('appends by itself, a moment after the first message', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, 0n, message('a'));
  appender.flushWhenDue();
  await expect.poll(async () => (await store.stats()).events).toBe(1);
});

it('forgets what is discarded before it was appended', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, 0n, message('a'));
  appender.discard();
  await appender.drain();
  expect([(await store.stats()).events, await store.sourceOffset('t', 0)]).toEqual([0, undefined]);
});

it('tells of a failed append once and drops what was collected behind it', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender, failures } = appenderTo(store);
  await store.close();
  appender.add('t', 0, 0n, message('a'));
  const drained = appender.drain();
  appender.add('t', 0, 1n, message('b'));
  await drained;
  await appender.drain();
  expect(failures).toEqual(['the store is closed']);
  expect(appender.pendingBytes).toBe(0);
});

it('stores the source offset behind messages that hold no event', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, 0n, Buffer.alloc(0));
  appender.moveTo('t', 0, 5n, undefined);
  await appender.drain();
  expect([await store.sourceOffset('t', 0), (await store.stats()).deadLetters]).toEqual([5n, 1]);
});

it('counts a tombstone, which is no dead letter, and passes it', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  appender.add('t', 0, 6n, null);
  appender.moveTo('t', 0, 7n, undefined);
  await appender.drain();
  expect([await store.sourceOffset('t', 0), (await store.stats()).deadLetters, appender.tombstones]).toEqual([7n, 0, 1]);
});

it('stores several events of one message, with the counts of each, and their letters', async () => {
  const store = await storeIn(temporaryFolder());
  const { appender } = appenderTo(store);
  const repaired = message('caf\xe9').toString();
  appender.add('t', 0, 6n, Buffer.from(`[${message('a')},${repaired},{},${repaired.replace('caf', 'the')},3]`, 'latin1'));
  await appender.drain();
  expect([(await store.stats()).events, await store.sourceOffset('t', 0), appender.repairedEvents]).toEqual([3, 7n, 2]);
  const letters = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(letters.map(({ offset, index, bytes }) => [offset, index, Buffer.from(bytes).toString()])).toEqual([
    [6n, 2, '{}'],
    [6n, 4, '3'],
  ]);
});

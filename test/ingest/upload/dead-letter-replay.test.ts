import { expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { replayDeadLetters } from '../../../ingest/upload/dead-letter-replay.ts';
import type { EventBatch, EventStore } from '../../../store/event-store.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { HOUR, NOW, RULES, rawEvent } from '../event/raw-events.ts';

const AT_ONCE = { ...RULES, zones: 'all' } as const;
const LATER = { ...AT_ONCE, now: () => NOW + 2 * HOUR };

/** Two events that are in the future now but not two hours later, and one that is never an event. */
async function storeWithDeadLetters(): Promise<EventStore> {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  builder.addKafkaMessage('events', 0, 5n, Buffer.from(rawEvent({ logId: undefined, timestamp: NOW + HOUR })));
  builder.addEvent('http', Buffer.from('broken'));
  builder.addEvent('http', Buffer.from(rawEvent({ logId: 'late', timestamp: NOW + HOUR + 1 })));
  builder.addKafkaMessage('events', 0, 9n, Buffer.from(rawEvent({ logId: 'good' })));
  await store.append(builder.take());
  return store;
}

async function storedIds(store: EventStore): Promise<string[]> {
  const window = { fromMs: NOW - HOUR, toMs: NOW + 3 * HOUR };
  const plan = { zones: [7], window, where: { kind: 'everything' }, page: { index: 0, size: 50 }, output: { kind: 'rows' } } as const;
  const result = await store.search(plan);
  return (await rowsOf(result)).map(({ logId }) => logId);
}

test('dead letters that keep the rules by now become events under the ids they would have had, the others stay', async () => {
  const store = await storeWithDeadLetters();
  expect(await replayDeadLetters(store, AT_ONCE)).toEqual({ replayed: 0, stillRejected: 3, notReplayable: 0 });
  expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 2, stillRejected: 1, notReplayable: 0 });
  expect(await storedIds(store)).toEqual(['late', 'events-0-5', 'good']);
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['broken']);
  expect(await store.sourceOffset('events', 0)).toBe(10n);
});

test('only the dead letters that were asked for are tried', async () => {
  const store = await storeWithDeadLetters();
  const [first, , third] = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(await replayDeadLetters(store, { ...LATER, ids: [third?.id ?? 0, 999] })).toEqual({
    replayed: 1,
    stillRejected: 0,
    notReplayable: 0,
  });
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ id }) => id)).toContain(first?.id);
  expect(await storedIds(store)).toEqual(['late', 'good']);
});

test('more dead letters than are looked at in one go are all replayed', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  for (let index = 0; index < 450; index++) {
    builder.addKafkaMessage(
      'events',
      0,
      BigInt(index),
      Buffer.from(index % 3 === 0 ? `${index}` : rawEvent({ logId: `e${index}`, timestamp: NOW + HOUR })),
    );
  }
  await store.append(builder.take());
  expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 300, stillRejected: 150, notReplayable: 0 });
  expect(await store.stats()).toMatchObject({ events: 300, deadLetters: 150 });
});

test('long dead letters are read a few at a time and stored in batches of bounded size', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  for (let index = 0; index < 40; index++) {
    const log = { filling: 'x'.repeat(1_000_000) };
    builder.addEvent('http', Buffer.from(rawEvent({ logId: `e${index}`, timestamp: NOW + HOUR, log })));
  }
  await store.append(builder.take());
  const bytesRead: number[] = [];
  const batches: EventBatch[] = [];
  const watched = alteredStore(store, {
    listDeadLetters: async (options) => {
      const letters = await store.listDeadLetters(options);
      bytesRead.push(letters.reduce((sum, { bytes }) => sum + bytes.length, 0));
      return letters;
    },
    append: (batch) => {
      batches.push(batch);
      return store.append(batch);
    },
  });
  expect(await replayDeadLetters(watched, LATER)).toEqual({ replayed: 40, stillRejected: 0, notReplayable: 0 });
  expect(Math.max(...bytesRead)).toBeLessThan(6_000_000);
  expect(Math.max(...batches.map(({ eventCount }) => eventCount))).toBeLessThan(20);
  expect(await store.stats()).toMatchObject({ events: 40, deadLetters: 0 });
});

test('a replay that nobody waits for any more ends, and what it has not stored stays as it is', async () => {
  const store = await storeWithDeadLetters();
  const gone = new AbortController();
  const watched = alteredStore(store, {
    listDeadLetters: (selection) => {
      gone.abort(new Error('gone'));
      return store.listDeadLetters(selection);
    },
  });
  await expect(replayDeadLetters(watched, { ...LATER, signal: gone.signal })).rejects.toThrow('gone');
  expect(await store.stats()).toMatchObject({ events: 1, deadLetters: 3 });
});

test('others get their turn while dead letters are tried', async () => {
  const store = await storeWithDeadLetters();
  let ended = false;
  const replay = replayDeadLetters(store, AT_ONCE).finally(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  expect(await replay).toEqual({ replayed: 0, stillRejected: 3, notReplayable: 0 });
});

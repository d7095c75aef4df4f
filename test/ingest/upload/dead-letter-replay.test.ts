import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { replayDeadLetters } from '../../../ingest/upload/dead-letter-replay.ts';
import { addKafkaMessage } from '../../../ingest/upload/message-events.ts';
import type { DeadLetter } from '../../../store/dead-letter.ts';
import type { EventBatch, EventStore } from '../../../store/event-store.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { HOUR, NOW, RULES, rawEvent } from '../event/raw-events.ts';

const AT_ONCE = { ...RULES, zones: 'all' } as const;
const LATER = { ...AT_ONCE, now: () => NOW + 2 * HOUR };

/** Two events that are in the future now but not two hours later, and one that is never an event. */
async function storeWithDeadLetters(): Promise<EventStore> {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  addKafkaMessage(builder, 'events', 0, 5n, Buffer.from(rawEvent({ logId: undefined, timestamp: NOW + HOUR })));
  builder.addEvent('http', Buffer.from('broken'));
  builder.addEvent('http', Buffer.from(rawEvent({ logId: 'late', timestamp: NOW + HOUR + 1 })));
  addKafkaMessage(builder, 'events', 0, 9n, Buffer.from(rawEvent({ logId: 'good' })));
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
  expect(await replayDeadLetters(store, { ...LATER, ids: [third?.id ?? '', '999'] })).toEqual({
    replayed: 1,
    stillRejected: 0,
    notReplayable: 0,
  });
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ id }) => id)).toContain(first?.id);
  expect(await storedIds(store)).toEqual(['late', 'good']);
});

describe('dead letters of messages with several events', () => {
  const late = (more: object = {}) => rawEvent({ logId: undefined, timestamp: NOW + HOUR, ...more });
  /** A message that an earlier program kept as one letter, or this one because of its many events that break a rule. */
  const wholeLetter = (text: string, offset = 5n): DeadLetter => ({
    ...{ bytes: Buffer.from(text), cut: null, reason: 'the event is an array: a JSON object is required', zoneId: null },
    ...{ source: 'kafka', topic: 'events', partition: 0, offset },
  });
  const lettersIn = async (store: EventStore) =>
    (await store.listDeadLetters({ zones: 'all', limit: 10_000 })).map(({ index, bytes }) => `${index} ${Buffer.from(bytes).toString()}`);
  const storeWith = async (...deadLetters: DeadLetter[]): Promise<EventStore> => {
    const store = await storeIn(temporaryFolder(), { now: () => NOW });
    await store.append(canonicalBatch([], { deadLetters }));
    return store;
  };

  test('become events under the ids that they would have had, also where they are the same bytes', async () => {
    const builder = new BatchBuilder(RULES);
    addKafkaMessage(builder, 'events', 0, 5n, Buffer.from(`[${late()},${late()},{}]`));
    const store = await storeWith(...builder.take().deadLetters);
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 2, stillRejected: 1, notReplayable: 0 });
    expect((await storedIds(store)).sort()).toEqual(['events-0-5:0', 'events-0-5:1']);
    expect(await lettersIn(store)).toEqual(['2 {}']);
  });

  test('that are one of the whole message are divided as the message would be now', async () => {
    const store = await storeWith(
      wholeLetter(`[${late()},${late()}]`, 5n),
      wholeLetter(`${late()}\n${rawEvent({ logId: 'own' })}`, 6n),
      wholeLetter(late(), 7n),
      wholeLetter(`\0\0${late()}`, 8n),
      wholeLetter('', 9n),
    );
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 4, stillRejected: 1, notReplayable: 0 });
    const ids = ['events-0-5:0', 'events-0-5:1', 'events-0-6:0', 'events-0-7', 'events-0-8', 'own'];
    expect((await storedIds(store)).sort()).toEqual(ids);
    expect(await lettersIn(store)).toEqual(['null ']);
  });

  test('are gone where the message is an array of none', async () => {
    const store = await storeWith(wholeLetter(' [] '));
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 1, stillRejected: 0, notReplayable: 0 });
    expect(await lettersIn(store)).toEqual([]);
  });

  test('leave letters of those that still break a rule, and a second replay of the message stores none twice', async () => {
    const message = wholeLetter(`[${late()},{},${rawEvent({ logId: 'own' })},[1]]`);
    const store = await storeWith(message);
    for (let round = 0; round < 2; round++) {
      expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 1, stillRejected: round === 0 ? 2 : 4, notReplayable: 0 });
      expect(await storedIds(store)).toEqual(['events-0-5:0', 'own']);
      expect(await lettersIn(store)).toEqual(['1 {}', '3 [1]']);
      await store.append(canonicalBatch([], { deadLetters: [message] }));
    }
  });

  test('stay whole where too many events in them break a rule, and the others are stored', async () => {
    const text = `[${late()},${'1,'.repeat(1_001)}${late()}]`;
    const store = await storeWith(wholeLetter(text));
    expect(await replayDeadLetters(store, LATER)).toEqual({ replayed: 0, stillRejected: 1, notReplayable: 0 });
    expect((await storedIds(store)).sort()).toEqual(['events-0-5:0', 'events-0-5:1002']);
    expect(await lettersIn(store)).toEqual([`null ${text}`]);
  });

  test('stay whole where there is no room for letters of the events that still break a rule', async () => {
    const text = `[${late()},{"a":${JSON.stringify('x'.repeat(1_000))}}]`;
    const store = await storeIn(temporaryFolder(), { now: () => NOW, deadLetterQuotaBytes: 2_400 });
    await store.append(canonicalBatch([], { deadLetters: [wholeLetter(text)] }));
    expect(await replayDeadLetters(store, LATER)).toMatchObject({ replayed: 0, stillRejected: 1 });
    expect(await storedIds(store)).toEqual(['events-0-5:0']);
    expect((await lettersIn(store))[0]).toEqual(`null ${text}`);
  });
});

test('more dead letters than are looked at in one go are all replayed', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const builder = new BatchBuilder(RULES);
  for (let index = 0; index < 450; index++) {
    addKafkaMessage(
      builder,
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

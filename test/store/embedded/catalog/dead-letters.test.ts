import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openStore } from '../../../../store/embedded/open-store.ts';
import type { DeadLetter } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { HOUR, NOW } from '../stored-events.ts';

const DAY = 24 * HOUR;
const ALL = { zones: 'all', limit: 1_000 } as const;

const uploaded = (text: string, zoneId: number | null = null): DeadLetter => ({
  bytes: Buffer.from(text),
  cut: null,
  reason: 'no event',
  source: 'http',
  topic: null,
  partition: null,
  offset: null,
  zoneId,
});
const fromKafka = (text: string, offset: number): DeadLetter => ({
  ...uploaded(text),
  source: 'kafka',
  topic: 'shield',
  partition: 3,
  offset: BigInt(offset),
});
const batchOf = (...deadLetters: DeadLetter[]) => canonicalBatch([], { deadLetters });

test('past the quota an upload is told which letters are not kept, of a Kafka message its place, reason and hash are, and room makes a difference', async () => {
  const folder = temporaryFolder();
  const options = { deadLetterQuotaBytes: 4_000 };
  const store = await storeIn(folder, options);
  const first = uploaded(`1${'x'.repeat(2_500)}`);
  const second = uploaded(`2${'x'.repeat(2_500)}`);
  const message = fromKafka(`3${'x'.repeat(2_500)}`, 8);
  expect((await store.append(batchOf(first, second, message))).deadLettersNotKept).toEqual([1, 2]);
  const letters = await store.listDeadLetters(ALL);
  expect(letters.map(({ source, isWhole, sizeBytes }) => [source, isWhole, sizeBytes])).toEqual([
    ['http', true, 2_501],
    ['kafka', false, 2_501],
  ]);
  expect(letters[1]).toMatchObject({ topic: 'shield', partition: 3, offset: 8n, reason: 'no event', bytes: new Uint8Array(0) });
  await store.close();
  const again = await storeIn(folder, options);
  expect(again.stats().deadLetters).toBe(2);
  expect((await again.append(batchOf(second))).deadLettersNotKept).toEqual([0]);
  expect((await again.append(batchOf(first))).deadLettersNotKept).toEqual([]);
  expect(await again.removeDeadLetters({ ...ALL, ids: [letters[0]?.id ?? 0] })).toBe(1);
  expect((await again.append(batchOf(second))).deadLettersNotKept).toEqual([]);
});

test('appends that are stored together are each told of their own letters', async () => {
  const store = await storeIn(temporaryFolder(), { deadLetterQuotaBytes: 2_000 });
  const receipts = await Promise.all(
    ['a', 'b', 'c'].map((text) => store.append(batchOf(uploaded(text), uploaded(text.repeat(3_000)), uploaded(`${text}!`)))),
  );
  expect(receipts.map(({ deadLettersNotKept }) => deadLettersNotKept)).toEqual([[1], [1], [0, 1, 2]]);
});

test('the records of Kafka messages past the quota are bounded too: the oldest give way', async () => {
  const store = await storeIn(temporaryFolder(), { deadLetterQuotaBytes: 64_000 });
  const large = Array.from({ length: 200 }, (_, offset) => fromKafka('x'.repeat(70_000), offset));
  await store.append(batchOf(...large));
  const offsets = (await store.listDeadLetters(ALL)).map(({ offset }) => Number(offset));
  expect(offsets.length).toBeGreaterThan(5);
  expect(offsets.length).toBeLessThan(12);
  expect(offsets).toEqual(Array.from({ length: offsets.length }, (_, place) => 200 - offsets.length + place));
});

test('letters are removed when their time is over, with the retention and at a start', async () => {
  const folder = temporaryFolder();
  let now = NOW;
  const options = { now: () => now, deadLetterRetentionMs: 7 * DAY };
  const store = await storeIn(folder, options);
  await store.append(batchOf(...Array.from({ length: 250 }, (_, number) => uploaded(`old ${number}`))));
  now += 4 * DAY;
  await store.append(batchOf(uploaded('newer')));
  now = NOW + 7 * DAY;
  await store.dropExpiredNow();
  expect(store.stats().deadLetters).toBe(251);
  now += 1;
  await store.dropExpiredNow();
  expect((await store.listDeadLetters(ALL)).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['newer']);
  await store.close();
  now = NOW + 11 * DAY + 1;
  const again = await storeIn(folder, options);
  expect(again.stats().deadLetters).toBe(0);
});

test('the letters of some zones are found among those of others, by ascending id and page by page', async () => {
  const store = await storeIn(temporaryFolder());
  const zoneAt = (number: number) => [7, 8, 9, null][number % 4] ?? null;
  await store.append(batchOf(...Array.from({ length: 40 }, (_, number) => uploaded(`${number}`, zoneAt(number)))));
  const textsOf = async (selection: Parameters<typeof store.listDeadLetters>[0]) =>
    (await store.listDeadLetters(selection)).map(({ bytes }) => Number(Buffer.from(bytes).toString()));
  const ids = (await store.listDeadLetters(ALL)).map(({ id }) => id);
  expect(await textsOf({ zones: [9, 7], limit: 5 })).toEqual([0, 2, 4, 6, 8]);
  expect(await textsOf({ zones: [9, 7], afterId: ids[8] ?? 0, limit: 3 })).toEqual([10, 12, 14]);
  expect(await textsOf({ zones: [], limit: 5 })).toEqual([]);
  expect(await textsOf({ zones: [8], ids: ids.slice(0, 8), limit: 9 })).toEqual([1, 5]);
  expect(await store.removeDeadLetters({ zones: [8], ids, limit: 40 })).toBe(10);
  expect(await store.removeDeadLetters({ zones: [7], limit: 1_000 })).toBe(10);
  expect(await textsOf({ zones: 'all', limit: 4 })).toEqual([2, 3, 6, 7]);
});

test('the letters that an earlier version kept in the catalog are moved under their numbers, for keys of all zones, whatever the quota', async () => {
  const folder = temporaryFolder();
  await (await storeIn(folder)).close();
  const catalog = new DatabaseSync(join(folder, 'catalog.sqlite'));
  catalog.exec(`
    CREATE TABLE dead_letters (
      id INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL,
      topic TEXT, partition INTEGER, message_offset INTEGER, received_at INTEGER NOT NULL
    ) STRICT`);
  const insert = catalog.prepare('INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  insert.run(4, 'http 1', Buffer.from('{"shieldZoneId":7}'), 'timestamp is missing', 'http', null, null, null, Date.now());
  insert.run(9, 'kafka 2', Buffer.alloc(2_000_000, 'x'), 'too long', 'kafka', 'shield', 1, 2n ** 60n, Date.now());
  catalog.close();
  const moved = await openStore({ dataDir: folder, memoryLimitMb: 256, retentionMs: DAY, now: Date.now, deadLetterQuotaBytes: 1_000 });
  expect(await moved.listDeadLetters({ zones: [7], limit: 9 })).toEqual([]);
  expect(await moved.listDeadLetters(ALL)).toMatchObject([
    { id: 4, reason: 'timestamp is missing', source: 'http', zoneId: null, isWhole: true },
    { id: 9, topic: 'shield', partition: 1, offset: 2n ** 60n, sizeBytes: 2_000_000, isWhole: true },
  ]);
  await moved.close();
  const again = await storeIn(folder, { now: Date.now });
  expect(again.stats().deadLetters).toBe(2);
});

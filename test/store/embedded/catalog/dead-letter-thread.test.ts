import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import type { DeadLetter } from '../../../../store/dead-letter.ts';
import { DeadLetterTable } from '../../../../store/embedded/catalog/dead-letter-table.ts';
import { DeadLetters } from '../../../../store/embedded/catalog/dead-letter-thread.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { backToVersion6 } from '../../../fixtures/earlier-folder.ts';
import { openFilesIn } from '../../../fixtures/open-files.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, storedIds } from '../stored-events.ts';

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

test('past the quota an upload is told which letters are not kept, a Kafka message leaves a record, and room is used again', async () => {
  const folder = temporaryFolder();
  const options = { deadLetterQuotaBytes: 4_000 };
  const store = await embeddedStoreIn(folder, options);
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
  const again = await embeddedStoreIn(folder, options);
  expect((await again.stats()).deadLetters).toBe(2);
  expect((await again.append(batchOf(second))).deadLettersNotKept).toEqual([0]);
  expect((await again.append(batchOf(first))).deadLettersNotKept).toEqual([]);
  expect(await again.removeDeadLetters({ ...ALL, ids: [letters[0]?.id ?? ''] })).toBe(1);
  expect((await again.append(batchOf(second))).deadLettersNotKept).toEqual([]);
});

test('appends that are stored together are each told of their own letters', async () => {
  const store = await embeddedStoreIn(temporaryFolder(), { deadLetterQuotaBytes: 2_000 });
  const receipts = await Promise.all(
    ['a', 'b', 'c'].map((text) => store.append(batchOf(uploaded(text), uploaded(text.repeat(3_000)), uploaded(`${text}!`)))),
  );
  expect(receipts.map(({ deadLettersNotKept }) => deadLettersNotKept)).toEqual([[1], [1], [0, 1, 2]]);
});

test('the records of Kafka messages past the quota are bounded too: the oldest give way', async () => {
  const store = await embeddedStoreIn(temporaryFolder(), { deadLetterQuotaBytes: 64_000 });
  const large = Array.from({ length: 200 }, (_, offset) => fromKafka('x'.repeat(70_000), offset));
  await store.append(batchOf(...large));
  const offsets = (await store.listDeadLetters(ALL)).map(({ offset }) => Number(offset));
  expect(offsets.length).toBeGreaterThan(5);
  expect(offsets.length).toBeLessThan(12);
  expect(offsets).toEqual(Array.from({ length: offsets.length }, (_, index) => 200 - offsets.length + index));
});

test('letters are removed when their time is over, with the retention and at a start', async () => {
  const folder = temporaryFolder();
  let now = NOW;
  const options = { now: () => now, deadLetterRetentionMs: 7 * DAY };
  const store = await embeddedStoreIn(folder, options);
  await store.append(batchOf(...Array.from({ length: 250 }, (_, number) => uploaded(`old ${number}`))));
  now += 4 * DAY;
  await store.append(batchOf(uploaded('newer')));
  now = NOW + 7 * DAY;
  await store.dropExpiredNow();
  expect((await store.stats()).deadLetters).toBe(251);
  now += 1;
  await store.dropExpiredNow();
  expect((await store.listDeadLetters(ALL)).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['newer']);
  await store.close();
  now = NOW + 11 * DAY + 1;
  const again = await embeddedStoreIn(folder, { ...options, backgroundJobsEveryMs: 20, retentionHoldMs: 0 });
  await expect.poll(async () => (await again.stats()).deadLetters).toBe(0);
});

test('a trouble of the letters that are removed is logged and keeps no events from being flushed', async () => {
  const folder = temporaryFolder();
  let now = NOW;
  const errors: unknown[] = [];
  const logger = { ...silentLogger, error: (...line: unknown[]) => errors.push(line) };
  const options = { now: () => now, deadLetterRetentionMs: 1_000, backgroundJobsEveryMs: 20, retentionHoldMs: 0, logger };
  const store = await embeddedStoreIn(folder, options);
  await store.append(canonicalBatch([event('a', NOW)], { deadLetters: [uploaded('old')] }));
  const file = new DatabaseSync(join(folder, 'dead-letters.sqlite'));
  file.exec("CREATE TRIGGER trouble BEFORE DELETE ON dead_letters BEGIN SELECT raise(ABORT, 'no more letters go'); END");
  file.close();
  now += HOUR;
  await expect.poll(() => store.stats()).toMatchObject({ segments: 1, unflushedEvents: 0 });
  await expect.poll(() => errors).toContainEqual([{ err: expect.objectContaining({ message: 'no more letters go' }) }, expect.any(String)]);
  expect((await store.stats()).deadLetters).toBe(1);
});

test('letters of the same bytes are told apart by their mapping, which is kept, also in a file of an earlier version', async () => {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder);
  await store.append(batchOf(uploaded('same', 7), fromKafka('same', 1)));
  await store.close();
  const file = new DatabaseSync(join(folder, 'dead-letters.sqlite'));
  file.exec('ALTER TABLE dead_letters DROP COLUMN mapping');
  file.close();
  const again = await embeddedStoreIn(folder);
  const mapped = (letter: DeadLetter) => ['nginx', 'aws-waf', null].map((mapping) => ({ ...letter, mapping }));
  for (let delivery = 0; delivery < 2; delivery++) {
    await again.append(batchOf(...mapped(uploaded('same', 7)), ...mapped(fromKafka('same', 1))));
  }
  const letters = await again.listDeadLetters(ALL);
  expect(letters.map(({ source, mapping }) => [source, mapping])).toEqual([
    ['http', null],
    ['kafka', null],
    ['http', 'nginx'],
    ['http', 'aws-waf'],
    ['kafka', 'nginx'],
    ['kafka', 'aws-waf'],
  ]);
});

test('letters of one message are told apart by their index, which is kept, also in a file of an earlier version', async () => {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder);
  await store.append(batchOf(fromKafka('same', 1)));
  await store.close();
  const file = new DatabaseSync(join(folder, 'dead-letters.sqlite'));
  file.exec('ALTER TABLE dead_letters DROP COLUMN item_index');
  file.close();
  const again = await embeddedStoreIn(folder);
  for (let delivery = 0; delivery < 2; delivery++) {
    await again.append(batchOf(fromKafka('same', 1), { ...fromKafka('same', 1), index: 0 }, { ...fromKafka('same', 1), index: 70_000 }));
  }
  const letters = await again.listDeadLetters(ALL);
  expect(letters.map(({ offset, index, isWhole }) => [offset, index, isWhole])).toEqual([
    [1n, null, true],
    [1n, 0, true],
    [1n, 70_000, true],
  ]);
});

test('a letter of a batch of messages is kept whole and not replayable, also in a file of an earlier version', async () => {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder);
  await store.append(batchOf(fromKafka('message', 1)));
  await store.close();
  const file = new DatabaseSync(join(folder, 'dead-letters.sqlite'));
  file.exec('ALTER TABLE dead_letters DROP COLUMN is_batch');
  file.close();
  const again = await embeddedStoreIn(folder);
  await again.append(batchOf({ ...fromKafka('batch', 2), isBatch: true }));
  const letters = await again.listDeadLetters(ALL);
  expect(letters.map(({ bytes, sizeBytes, isWhole }) => [Buffer.from(bytes).toString(), sizeBytes, isWhole])).toEqual([
    ['message', 7, true],
    ['batch', 5, false],
  ]);
});

/** The middle of a file of letters, which its first statement does not read. */
const LATER_PAGES = 20_000;

test.each([
  ['at the start', 0],
  ['while letters are added', LATER_PAGES],
])('a file of letters that is found damaged %s is set aside, and a new one begun, which is told', async (_, from) => {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder);
  for (const letter of Array.from({ length: 40 }, (_letter, number) => uploaded(`${number} ${'x'.repeat(2_000)}`))) {
    await store.append(batchOf(letter));
  }
  await store.close();
  const file = join(folder, 'dead-letters.sqlite');
  writeFileSync(file, readFileSync(file).fill('DAMAGE', from));
  const error = vi.fn();
  const again = await embeddedStoreIn(folder, { logger: { ...silentLogger, error } });
  await again.append({ ...canonicalBatch([event('a', NOW)]), deadLetters: [uploaded('new')] });
  expect((await again.listDeadLetters(ALL)).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['new']);
  expect(await storedIds(again)).toEqual(['a']);
  const [setAside = ''] = readdirSync(folder).filter((name) => /^damaged-\d+-dead-letters\.sqlite$/.test(name));
  expect(readFileSync(join(folder, setAside), 'latin1')).toContain('DAMAGE');
  const told = 'the file of the dead letters is damaged; it is set aside, and a new one begun';
  expect(error.mock.calls).toEqual([[{ file, setAside: join(folder, setAside) }, told]]);
});

test('a table that cannot be opened leaves its file closed, without waiting for its thread to end', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'dead-letters.sqlite');
  writeFileSync(file, 'x'.repeat(4_096));
  expect(() => DeadLetterTable.open(file, 1_024)).toThrow('file is not a database');
  expect(openFilesIn(folder)).toEqual([]);
});

test('letters wait for another process that holds the lock of their file', async () => {
  const folder = temporaryFolder();
  const [store, other] = [await embeddedStoreIn(folder), await embeddedStoreIn(temporaryFolder())];
  await Promise.all([store.append(batchOf(uploaded('1'))), other.append(batchOf(uploaded('1')))]);
  const lock = new DatabaseSync(join(folder, 'dead-letters.sqlite'));
  lock.exec('BEGIN IMMEDIATE');
  const outcome = store.append(batchOf(uploaded('2'))).then(
    () => 'kept',
    (error: Error) => error.message,
  );
  // By then the thread has met the lock.
  await other.append(batchOf(uploaded('2')));
  lock.exec('COMMIT');
  lock.close();
  expect(await outcome).toBe('kept');
});

test('what is kept is counted as it is after letters and records have come and gone', async () => {
  const folder = temporaryFolder();
  const options = { deadLetterQuotaBytes: 32_000 };
  const store = await embeddedStoreIn(folder, options);
  const ofNumber = (number: number) => fromKafka(`${number}${'x'.repeat(4_000)}`, number);
  await store.append(batchOf(...Array.from({ length: 20 }, (_, number) => ofNumber(number))));
  const ids = (await store.listDeadLetters(ALL)).map(({ id }) => id);
  await store.removeDeadLetters({ zones: 'all', ids: [ids[0] ?? '', ids[1] ?? '', ids.at(-1) ?? ''], limit: 3 });
  const { deadLettersNotKept } = await store.append(batchOf(...[30, 31, 32, 33].map(ofNumber)));
  expect(deadLettersNotKept).toEqual([2, 3]);
  const { length } = await store.listDeadLetters(ALL);
  expect((await store.stats()).deadLetters).toBe(length);
  await store.close();
  const again = await embeddedStoreIn(folder, options);
  expect((await again.stats()).deadLetters).toBe(length);
  expect((await again.append(batchOf(ofNumber(40)))).deadLettersNotKept).toEqual([0]);
});

test('letters that are on their way count with all the memory they take', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const stored = store.append(batchOf(...Array.from({ length: 1_000 }, (_, number) => uploaded(`${number}`))));
  expect(store.pendingBytes()).toBeGreaterThan(300_000);
  await stored;
  expect(store.pendingBytes()).toBe(0);
});

test('the letters of some zones are found among those of others, by ascending id and page by page', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const zoneAt = (number: number) => [7, 8, 9, null][number % 4] ?? null;
  await store.append(batchOf(...Array.from({ length: 40 }, (_, number) => uploaded(`${number}`, zoneAt(number)))));
  const textsOf = async (selection: Parameters<typeof store.listDeadLetters>[0]) =>
    (await store.listDeadLetters(selection)).map(({ bytes }) => Number(Buffer.from(bytes).toString()));
  const ids = (await store.listDeadLetters(ALL)).map(({ id }) => id);
  expect(await textsOf({ zones: [9, 7], limit: 5 })).toEqual([0, 2, 4, 6, 8]);
  expect(await textsOf({ zones: [9, 7], afterId: ids[8] ?? '', limit: 3 })).toEqual([10, 12, 14]);
  expect(await textsOf({ zones: [], limit: 5 })).toEqual([]);
  expect(await textsOf({ zones: [8], ids: ids.slice(0, 8), limit: 9 })).toEqual([1, 5]);
  expect(await store.removeDeadLetters({ zones: [8], ids, limit: 40 })).toBe(10);
  expect(await store.removeDeadLetters({ zones: [7], limit: 1_000 })).toBe(10);
  expect(await textsOf({ zones: 'all', limit: 4 })).toEqual([2, 3, 6, 7]);
});

const EARLIER_SCHEMA = `
  CREATE TABLE IF NOT EXISTS dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL,
    topic TEXT, partition INTEGER, message_offset INTEGER, received_at INTEGER NOT NULL
  ) STRICT`;

/** Letters in the catalog, as an earlier version kept them. */
function keepInCatalog(folder: string, letters: readonly (DeadLetter & { readonly id: number })[]): void {
  backToVersion6(folder, (catalog) => {
    catalog.exec(EARLIER_SCHEMA);
    const insert = catalog.prepare('INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    for (const { id, bytes, reason, source, topic, partition, offset } of letters) {
      insert.run(id, `${source} ${id}`, bytes, reason, source, topic, partition, offset, NOW);
    }
  });
}

test('letters that an earlier version kept in the catalog move under their ids, for keys of all zones, whatever the quota', async () => {
  const folder = temporaryFolder();
  await (await embeddedStoreIn(folder)).close();
  const offset = 2n ** 60n;
  keepInCatalog(folder, [
    { ...uploaded('{"shieldZoneId":7}'), id: 4, reason: 'timestamp is missing' },
    { ...fromKafka('x'.repeat(2_000_000), 0), id: 9, partition: 1, offset },
  ]);
  const moved = await embeddedStoreIn(folder, { deadLetterQuotaBytes: 1_000 });
  expect(await moved.listDeadLetters({ zones: [7], limit: 9 })).toEqual([]);
  expect(await moved.listDeadLetters(ALL)).toMatchObject([
    { id: '4', reason: 'timestamp is missing', source: 'http', zoneId: null, isWhole: true },
    { id: '9', topic: 'shield', partition: 1, offset: 2n ** 60n, sizeBytes: 2_000_000, isWhole: true },
  ]);
  await moved.close();
  const again = await embeddedStoreIn(folder);
  expect((await again.stats()).deadLetters).toBe(2);
});

test('letters that an earlier version kept after this one did are moved under new numbers where theirs are taken', async () => {
  const folder = temporaryFolder();
  const first = await embeddedStoreIn(folder);
  await first.append(batchOf(uploaded('first'), uploaded('second')));
  await first.close();
  keepInCatalog(folder, [
    { ...uploaded('third'), id: 2 },
    { ...uploaded('fourth'), id: 7 },
    { ...uploaded('first'), id: 9 },
  ]);
  const again = await embeddedStoreIn(folder);
  const letters = await again.listDeadLetters(ALL);
  expect(letters.map(({ id, bytes }) => [id, Buffer.from(bytes).toString()])).toEqual([
    ['1', 'first'],
    ['2', 'second'],
    ['3', 'third'],
    ['7', 'fourth'],
  ]);
});

test('many letters that an earlier version kept are all moved, some at a time', async () => {
  const folder = temporaryFolder();
  await (await embeddedStoreIn(folder)).close();
  keepInCatalog(
    folder,
    Array.from({ length: 1_201 }, (_, number) => ({ ...uploaded(`${number}`.padEnd(number < 20 ? 500_000 : 1)), id: number + 1 })),
  );
  const store = await embeddedStoreIn(folder);
  expect((await store.stats()).deadLetters).toBe(1_201);
  const ids = (await store.listDeadLetters({ zones: 'all', afterId: '1100', limit: 200 })).map(({ id }) => id);
  expect(ids).toEqual(Array.from({ length: 101 }, (_, index) => `${1_101 + index}`));
  await store.close();
  const catalog = new DatabaseSync(join(folder, 'catalog.sqlite'), { readOnly: true });
  expect(catalog.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'dead_letters'").get()).toBeUndefined();
  catalog.close();
});

test('most letters stay for an hour by a clock that nobody sets, as those that came under a clock that was behind', async () => {
  const folder = temporaryFolder();
  const behind = await embeddedStoreIn(folder, { now: () => 1_000 });
  await behind.append(batchOf(uploaded('under a wrong clock'), uploaded('another one')));
  await behind.close();
  const warn = vi.fn();
  const again = await embeddedStoreIn(folder, { backgroundJobsEveryMs: 20, logger: { ...silentLogger, warn } });
  await again.append(batchOf(uploaded('new')));
  await expect
    .poll(() => warn.mock.calls.map(([, message]) => message))
    .toEqual([
      "2 of 3 dead letters are past the retention by this machine's clock; they are kept for 60 minutes, in case the clock is wrong",
    ]);
  expect(await again.listDeadLetters(ALL)).toHaveLength(3);
  await again.close();
  const later = await embeddedStoreIn(folder, { backgroundJobsEveryMs: 20, retentionHoldMs: 0 });
  await expect.poll(async () => (await later.stats()).deadLetters).toBe(1);
});

test('while removals are held letters come in and none goes, and afterwards those go that were to', async () => {
  const file = join(temporaryFolder(), 'dead-letters.sqlite');
  const letters = await DeadLetters.open({ file, quotaBytes: 1_000_000, retentionMs: DAY, logger: silentLogger });
  await letters.add([uploaded('1'), uploaded('2')], NOW);
  const held = await letters.holdRemovals();
  const removing = letters.remove({ ...ALL, ids: ['1'] });
  const expiring = letters.removeExpired(NOW + 2 * DAY, () => false);
  await letters.add([uploaded('3')], NOW + 2 * DAY);
  expect((await letters.list(ALL)).map(({ id }) => id)).toEqual(['1', '2', '3']);
  held[Symbol.dispose]();
  expect(await removing).toBe(1);
  await expiring;
  expect((await letters.list(ALL)).map(({ id }) => id)).toEqual(['3']);
  await letters.close();
});

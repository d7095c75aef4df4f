import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { EpochTable, MAX_EPOCHS } from '../../../../store/embedded/catalog/epoch-table.ts';
import { feedPosition } from '../../../../store/embedded/feed/feed-positions.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import { CursorAhead, type FeedPosition } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW } from '../stored-events.ts';
import { wholeFeed } from './whole-feed.ts';

afterEach(() => vi.restoreAllMocks());

const append = (store: OpenStore, ...logIds: readonly string[]) =>
  store.append(canonicalBatch(logIds.map((logId, index) => event(logId, NOW - index))));

const newestCursor = async ({ positions }: OpenStore) => positions.encode(await positions.newest());

const idsAfter = async (store: OpenStore, after: FeedPosition) => (await wholeFeed(store, { after })).map(({ logId }) => logId);

/** What a reader with a cursor gets: whether its feed goes on where it was, and the events behind that point. */
async function goneOn(store: OpenStore, cursor: string) {
  const decoded = await store.positions.decode(cursor);
  if (typeof decoded === 'string') return decoded;
  const isAhead = decoded instanceof CursorAhead;
  return { isAhead, ids: await idsAfter(store, isAhead ? decoded.goesOnAfter : decoded) };
}

/** A copy of the folder of a store that is closed. */
function copyOf(dataDir: string): string {
  const copy = join(temporaryFolder(), 'data');
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

/** A folder in which two events came in one start, and a cursor behind them. */
async function folderWithEvents(isFlushed: boolean) {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  await append(store, 'a', 'b');
  if (isFlushed) await store.flushNow();
  const cursor = await newestCursor(store);
  await store.close();
  return { dataDir, cursor };
}

test.each([true, false])('a cursor goes on over restarts, with events between them and without (flushed: %s)', async (isFlushed) => {
  const { dataDir, cursor } = await folderWithEvents(isFlushed);
  const cursors = [cursor];
  for (const logIds of [[], ['c'], [], []]) {
    const store = await embeddedStoreIn(dataDir);
    for (const one of cursors) expect(await store.positions.decode(one)).toBeTypeOf('object');
    for (const logId of logIds) await append(store, logId);
    for (const one of cursors) expect(await goneOn(store, one)).toMatchObject({ isAhead: false });
    cursors.push(await newestCursor(store));
    await store.close();
  }
  expect(new Set(cursors.map((one) => one.slice(0, 6))).size).toBe(cursors.length);
  const last = await embeddedStoreIn(dataDir);
  expect(await goneOn(last, cursor)).toEqual({ isAhead: false, ids: ['c'] });
  expect(await goneOn(last, cursors.at(-1) ?? '')).toEqual({ isAhead: false, ids: [] });
});

test('after the loss of the last events a reader of them is told the end, and skips none that come in their place', async () => {
  const { dataDir, cursor } = await folderWithEvents(true);
  const lost = await embeddedStoreIn(dataDir);
  const copy = copyOf(dataDir);
  await append(lost, 'lost-1', 'lost-2', 'lost-3');
  const ahead = await newestCursor(lost);
  await lost.close();
  // The catalog of the copy has the start in which the events were lost, as a backup of a running program has.
  const restored = await embeddedStoreIn(copy);
  await append(restored, 'c', 'd', 'e', 'f', 'g');
  expect(await goneOn(restored, ahead)).toEqual({ isAhead: true, ids: ['c', 'd', 'e', 'f', 'g'] });
  expect(await goneOn(restored, cursor)).toEqual({ isAhead: false, ids: ['c', 'd', 'e', 'f', 'g'] });
  expect(await goneOn(restored, await newestCursor(restored))).toEqual({ isAhead: false, ids: [] });
});

test('a reader of a start that came after the copy begins with the oldest event of the copy', async () => {
  const { dataDir } = await folderWithEvents(true);
  const copy = copyOf(dataDir);
  const later = await embeddedStoreIn(dataDir);
  await append(later, 'lost-1');
  const cursor = await newestCursor(later);
  await later.close();
  const restored = await embeddedStoreIn(copy);
  await append(restored, 'c', 'd');
  expect(await goneOn(restored, cursor)).toEqual({ isAhead: true, ids: ['a', 'b', 'c', 'd'] });
});

test('of two copies that are started, none takes a cursor of the other one for its own', async () => {
  const { dataDir, cursor } = await folderWithEvents(false);
  const copy = copyOf(dataDir);
  const [here, there] = [await embeddedStoreIn(dataDir), await embeddedStoreIn(copy)];
  await append(here, 'here-1', 'here-2', 'here-3');
  await append(there, 'there-1');
  expect(await goneOn(there, await newestCursor(here))).toEqual({ isAhead: true, ids: ['a', 'b', 'there-1'] });
  expect(await goneOn(here, await newestCursor(there))).toEqual({ isAhead: true, ids: ['a', 'b', 'here-1', 'here-2', 'here-3'] });
  for (const store of [here, there]) expect(await goneOn(store, cursor)).toMatchObject({ isAhead: false });
});

test('a reader of some zones is told the end, too, also where none of its events is lost', async () => {
  const { dataDir } = await folderWithEvents(true);
  const lost = await embeddedStoreIn(dataDir);
  const copy = copyOf(dataDir);
  await append(lost, 'lost');
  // It has no event of zone 8, and goes past those of the others.
  const { end } = await lost.readFeed({ zones: [8], after: await lost.positions.oldest(), limit: 10 });
  const cursor = lost.positions.encode(end);
  const restored = await embeddedStoreIn(copy);
  const decoded = (await restored.positions.decode(cursor)) as CursorAhead;
  await restored.append(canonicalBatch([event('of-8', NOW, { shieldZoneId: 8 })]));
  const { lines } = await restored.readFeed({ zones: [8], after: decoded.goesOnAfter, limit: 10 });
  expect([decoded instanceof CursorAhead, lines.length]).toEqual([true, 1]);
});

test('what the retention removes after a restore is told, although it had removed something else before', async () => {
  const dataDir = temporaryFolder();
  let now = NOW;
  const options = { now: () => now };
  const original = await embeddedStoreIn(dataDir, options);
  for (const hoursAgo of [70, 40, 10]) {
    await original.append(canonicalBatch([event(`${hoursAgo} hours ago`, NOW - hoursAgo * HOUR)]));
    await original.flushNow();
  }
  const copy = join(temporaryFolder(), 'data');
  cpSync(dataDir, copy, { recursive: true });
  now += 4 * HOUR;
  await original.dropExpiredNow();
  // It was told of the first event, and has not read the second.
  const told = await original.positions.afterExpiry(
    'all',
    (await original.positions.decode(original.positions.encode(feedPosition(0n)))) as FeedPosition,
  );
  const cursor = original.positions.encode(told as FeedPosition);
  await original.close();
  now += 40 * HOUR;
  const restored = await embeddedStoreIn(copy, options);
  await restored.dropExpiredNow();
  const position = (await restored.positions.decode(cursor)) as FeedPosition;
  expect(await restored.positions.afterExpiry('all', position)).toBeDefined();
  expect(await idsAfter(restored, position)).toEqual(['10 hours ago']);
});

/** No commit of a catalog that has written anything has room. */
function fullDisk(): { isFull: boolean } {
  const disk = { isFull: true };
  const exec = DatabaseSync.prototype.exec;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    if (disk.isFull && sql === 'COMMIT' && this.location()?.endsWith('catalog.sqlite') && isWriting(this)) {
      exec.call(this, 'ROLLBACK');
      throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
    }
    return exec.call(this, sql);
  });
  return disk;
}

const epochOf = (cursor: string) => cursor.slice(0, 6);

test('a start on a full disk gives the cursors of the start before, and one of its own before it takes an event in', async () => {
  const { dataDir } = await folderWithEvents(true);
  const disk = fullDisk();
  const store = await embeddedStoreIn(dataDir);
  const early = await newestCursor(store);
  const copy = copyOf(dataDir);
  await expect(append(store, 'refused')).rejects.toMatchObject({ code: 'append_failed' });
  disk.isFull = false;
  await expect
    .poll(() =>
      append(store, 'lost').then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const late = await newestCursor(store);
  expect(epochOf(late)).not.toBe(epochOf(early));
  for (const cursor of [early, late]) expect(await goneOn(store, cursor)).toMatchObject({ isAhead: false });
  await store.close();
  const again = await embeddedStoreIn(dataDir);
  for (const cursor of [early, late]) expect(await goneOn(again, cursor)).toMatchObject({ isAhead: false });
  // Both have the early cursor's epoch, and the copy does not take the late one for it.
  const restored = await embeddedStoreIn(copy);
  await append(restored, 'c');
  expect(await goneOn(restored, early)).toEqual({ isAhead: false, ids: ['c'] });
  expect(await goneOn(restored, late)).toEqual({ isAhead: true, ids: ['a', 'b', 'c'] });
});

test('a start on a full disk has an epoch of its own before the retention removes an event', async () => {
  const { dataDir } = await folderWithEvents(true);
  const disk = fullDisk();
  let now = NOW;
  const store = await embeddedStoreIn(dataDir, { now: () => now });
  const early = await newestCursor(store);
  now += 80 * HOUR;
  await expect(store.dropExpiredNow()).rejects.toThrow('disk is full');
  expect(epochOf(await newestCursor(store))).toBe(epochOf(early));
  disk.isFull = false;
  await store.dropExpiredNow();
  expect((await store.stats()).events).toBe(0);
  expect(epochOf(await newestCursor(store))).not.toBe(epochOf(early));
});

/** Whether the transaction under way has written anything, so that its commit needs room. */
function isWriting(database: DatabaseSync): boolean {
  const changes = Number(database.prepare('SELECT total_changes() AS changes').get()?.['changes']);
  return changes > 0;
}

/** A catalog in a folder of its own, in which a start begins an epoch at a sequence. */
function catalogIn(folder: string): Catalog {
  return new Catalog(join(folder, 'catalog.sqlite'));
}

test('the epoch of a start is drawn once, and is there after the next start', () => {
  const folder = temporaryFolder();
  const first = catalogIn(folder);
  first.epochs.prepare({ firstSequence: 5n, sweeps: 1 });
  for (let times = 0; times < 3; times += 1) first.epochs.begin();
  const drawn = first.epochs.list();
  expect(drawn).toEqual([
    { epoch: first.storeId(), firstSequence: 1n, sweeps: 0 },
    { epoch: expect.any(Number), firstSequence: 5n, sweeps: 1 },
  ]);
  first.close();
  const second = catalogIn(folder);
  expect(second.epochs.list()).toEqual(drawn);
  expect(second.isAsWritten()).toBe(true);
  second.close();
});

test('the last epochs are kept', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(`
    CREATE TABLE epochs (number INTEGER PRIMARY KEY, epoch INTEGER, first_sequence INTEGER, runs INTEGER);
    CREATE TABLE progress (name TEXT PRIMARY KEY, value INTEGER);
    CREATE TABLE source_offsets (topic, partition, next_offset, topic_id);
    CREATE TABLE expired_watermarks (zone_id, run, sequence);
  `);
  const epochs = new EpochTable(database);
  for (let start = 1; start <= MAX_EPOCHS + 2; start += 1) {
    epochs.prepare({ firstSequence: BigInt(start), sweeps: 0 });
    epochs.begin();
  }
  const kept = epochs.list().map(({ firstSequence }) => Number(firstSequence));
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([MAX_EPOCHS, 3, MAX_EPOCHS + 2]);
  expect(new EpochTable(database).list()).toEqual(epochs.list());
});

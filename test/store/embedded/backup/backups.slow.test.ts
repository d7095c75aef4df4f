import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import { CursorAhead, type FeedPosition, type StoreBackup } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { wholeFeed } from '../feed/whole-feed.ts';
import { event, eventSeries, HOUR, idsOf, NOW } from '../stored-events.ts';

const letter = (text: string) => ({
  bytes: Buffer.from(text),
  cut: null,
  reason: 'no event',
  source: 'kafka',
  topic: 't',
  partition: 0,
  offset: BigInt(text),
  zoneId: null,
});

/** Copies the files of a backup to a new folder. */
function copied({ published, databases }: StoreBackup): string {
  const dataDir = join(temporaryFolder(), 'data');
  for (const { name, path } of [...published, ...databases]) {
    mkdirSync(dirname(join(dataDir, name)), { recursive: true });
    cpSync(path, join(dataDir, name));
  }
  return dataDir;
}

const BATCH = 50;
const TOPIC = 'writer';

/** Appends batches with a dead letter each, flushes and merges, until it is told to stop. */
async function write(store: OpenStore, isDone: () => boolean, acknowledged: (batches: number) => void): Promise<void> {
  for (let batch = 0; !isDone(); batch += 1) {
    const events = eventSeries(`b${batch}-`, BATCH, NOW - HOUR, 1);
    const sourceOffsets = [{ topic: TOPIC, partition: 0, nextOffset: BigInt(batch + 1) }];
    await store.append(canonicalBatch(events, { sourceOffsets, deadLetters: [letter(String(batch))] }));
    acknowledged(batch + 1);
    if (batch % 4 === 0) void store.flushNow();
    if (batch % 20 === 0) void store.compactNow();
  }
}

test('backups under intake, flushes and merges hold exactly the events of their moment, with their dead letters', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  let [isDone, batches] = [false, 0];
  const writing = write(
    store,
    () => isDone,
    (stored) => {
      batches = stored;
    },
  );
  const moments: { readonly dataDir: string; readonly stored: number; readonly by: number }[] = [];
  while (moments.length < 6) {
    await expect.poll(() => batches).toBeGreaterThan((moments.at(-1)?.by ?? 0) + 20);
    const stored = batches;
    await using backup = await store.beginBackup();
    const by = batches;
    // Merges and flushes go on while its files are copied.
    await expect.poll(() => batches).toBeGreaterThan(by + 20);
    await store.flushNow();
    moments.push({ dataDir: copied(backup), stored, by });
  }
  isDone = true;
  await writing;
  for (const { dataDir, stored, by } of moments) {
    const restored = await embeddedStoreIn(dataDir);
    const offset = Number(await restored.sourceOffset(TOPIC, 0));
    expect(offset).toBeGreaterThanOrEqual(stored);
    expect(offset).toBeLessThanOrEqual(by);
    const ids = (await wholeFeed(restored, { limit: 10_000 })).map(({ logId }) => logId);
    expect(ids).toEqual(Array.from({ length: offset }, (_, batch) => idsOf(eventSeries(`b${batch}-`, BATCH, 0, 1))).flat());
    const letters = await restored.listDeadLetters({ zones: 'all', limit: 10_000 });
    const kept = new Set(letters.map(({ bytes }) => Number(Buffer.from(bytes).toString())));
    expect(Array.from({ length: offset }, (_, batch) => kept.has(batch))).not.toContain(false);
    await restored.close();
  }
});

test('a reader of the feed goes on after a restore, from the end of the backup', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch([event('a', NOW), event('b', NOW)]));
  const early = store.positions.encode(await store.positions.newest());
  await using backup = await store.beginBackup();
  await store.append(canonicalBatch([event('lost-1', NOW), event('lost-2', NOW)]));
  const late = store.positions.encode(await store.positions.newest());
  const restored = await embeddedStoreIn(copied(backup));
  await restored.append(canonicalBatch(['c', 'd', 'e', 'f'].map((logId) => event(logId, NOW))));
  const rest = async (after: FeedPosition) => (await wholeFeed(restored, { after })).map(({ logId }) => logId);
  expect(await rest((await restored.positions.decode(early)) as FeedPosition)).toEqual(['c', 'd', 'e', 'f']);
  const ahead = await restored.positions.decode(late);
  expect(ahead).toBeInstanceOf(CursorAhead);
  expect(await rest((ahead as CursorAhead).goesOnAfter)).toEqual(['c', 'd', 'e', 'f']);
});

test('while nothing can be flushed no backup is made, which says why, and one is made as soon as it can', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch([event('a', NOW)]));
  rmSync(join(dataDir, 'segments'), { recursive: true });
  await expect(store.beginBackup()).rejects.toMatchObject({
    code: 'backup_failed',
    message: expect.stringMatching(/^events cannot be moved to disk: .*segments/),
  });
  mkdirSync(join(dataDir, 'segments'));
  await expect.poll(() => store.reasonsNotReady()).toEqual([]);
  await using backup = await store.beginBackup();
  expect(backup.events).toBe(1);
});

test('one backup is made at a time, and none after the store is closed', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const first = await store.beginBackup();
  await expect(store.beginBackup()).rejects.toMatchObject({ code: 'backup_taken', message: expect.stringContaining('another backup') });
  await first[Symbol.asyncDispose]();
  const second = store.beginBackup();
  await Promise.all([second, store.close()]);
  await (await second)[Symbol.asyncDispose]();
  await expect(store.beginBackup()).rejects.toMatchObject({ code: 'closed' });
});

import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from './embedded-store-in.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, rowsPlan, storedIds } from './stored-events.ts';

/** Nothing can be written into the folder until the returned function is called. */
function takeAway(folder: string): () => void {
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'in the way');
  return () => {
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
  };
}

test('flushed events are there once when their journals cannot be removed', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch([event('a', NOW), event('b', NOW + 1)]));
  const journal = join(dataDir, 'journal', '000000000001.parquet');
  rmSync(journal);
  mkdirSync(journal);
  await store.flushNow();
  await store.append(canonicalBatch([event('c', NOW + 2)]));
  await store.flushNow();
  expect(await storedIds(store)).toEqual(['c', 'b', 'a']);
  expect(await store.stats()).toMatchObject({ events: 3, segments: 2 });
  rmSync(journal, { recursive: true });
});

test('while nothing can be flushed events stay searchable, the store says why, and appends are refused before memory is full', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const giveBack = takeAway(join(dataDir, 'segments'));
  const flushes: Promise<void>[] = [];
  for (const id of ['a', 'b', 'c']) {
    await store.append(canonicalBatch([event(id, NOW)]));
    flushes.push(store.flushNow());
  }
  await expect.poll(() => store.reasonsNotReady()).toEqual([expect.stringContaining('events cannot be moved to disk and stay in memory')]);
  await store.append(canonicalBatch([event('d', NOW)]));
  await expect(store.flushNow()).rejects.toMatchObject({ code: 'append_failed', message: expect.stringContaining('memory is full') });
  expect(await storedIds(store)).toEqual(['a', 'b', 'c', 'd']);
  giveBack();
  await Promise.all(flushes);
  await store.flushNow();
  expect(await store.reasonsNotReady()).toEqual([]);
  expect(await store.stats()).toMatchObject({ events: 4, unflushedEvents: 0 });
  expect(await storedIds(store)).toEqual(['a', 'b', 'c', 'd']);
});

test('while the logs of a flush cannot be written, the flush behind it is not published either, and leaves nothing', async () => {
  const dataDir = temporaryFolder();
  const segments = join(dataDir, 'segments');
  const store = await embeddedStoreIn(dataDir);
  const inTheWay = join(segments, `j1-${NOW.toString(36)}-log.parquet.tmp`);
  mkdirSync(inTheWay);
  const flushes: Promise<void>[] = [];
  for (const id of ['a', 'b']) {
    await store.append(canonicalBatch([event(id, NOW, { log: { of: id } })]));
    flushes.push(store.flushNow());
  }
  await expect.poll(() => store.reasonsNotReady()).toHaveLength(1);
  expect(await store.stats()).toMatchObject({ events: 2, unflushedEvents: 2, segments: 0 });
  expect(readdirSync(segments)).toHaveLength(1);
  rmdirSync(inTheWay);
  await Promise.all(flushes);
  expect(await store.stats()).toMatchObject({ events: 2, unflushedEvents: 0, segments: 2 });
  expect(readdirSync(segments)).toHaveLength(4);
  const result = await store.search(rowsPlan());
  expect((await rowsOf(result)).map(({ logJson }) => logJson)).toEqual(['{"of":"a"}', '{"of":"b"}']);
});

test('a store that cannot flush can be closed, and has everything again at the next start', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const giveBack = takeAway(join(dataDir, 'segments'));
  for (const id of ['a', 'b']) {
    await store.append(canonicalBatch([event(id, NOW)]));
    void store.flushNow();
  }
  await expect.poll(() => store.reasonsNotReady()).toHaveLength(1);
  await store.close();
  giveBack();
  expect(await storedIds(await embeddedStoreIn(dataDir))).toEqual(['a', 'b']);
});

test('large batches count their duplicates, and are the same after a restart and a flush', async () => {
  const dataDir = temporaryFolder();
  const events = eventSeries('e', 15_000, NOW - 5 * HOUR, 1_000);
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(events.slice(0, 6_000)));
  await store.append(canonicalBatch(events.slice(3_000, 9_000)));
  await store.append(canonicalBatch([...events.slice(9_000), ...events.slice(9_000, 9_100)]));
  expect(await store.stats()).toMatchObject({ events: 15_000, duplicateEvents: 3_100 });
  const expected = inAnswerOrder(events);
  expect(await storedIds(store)).toEqual(expected);
  await store.close();
  const again = await embeddedStoreIn(dataDir);
  expect(await storedIds(again)).toEqual(expected);
  await again.flushNow();
  expect(await storedIds(again)).toEqual(expected);
  expect(await again.stats()).toMatchObject({ events: 15_000, unflushedEvents: 0, duplicateEvents: 3_100 });
});

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, storedIds } from './stored-events.ts';

/** Nothing can be written into the folder until the returned function is called. */
function takeAway(folder: string): () => void {
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'in the way');
  return () => {
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
  };
}

test('sealed events are there once when their journals cannot be removed', async () => {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
  await store.append(canonicalBatch([event('a', NOW), event('b', NOW + 1)]));
  const journal = join(dataDir, 'journal', '000000000001.parquet');
  rmSync(journal);
  mkdirSync(journal);
  await store.sealNow();
  await store.append(canonicalBatch([event('c', NOW + 2)]));
  await store.sealNow();
  expect(await storedIds(store)).toEqual(['c', 'b', 'a']);
  expect(store.stats()).toMatchObject({ events: 3, segments: 2 });
  rmSync(journal, { recursive: true });
});

test('while nothing can be sealed events stay searchable, the store says why, and appends are refused before memory is full', async () => {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
  const giveBack = takeAway(join(dataDir, 'segments'));
  const seals: Promise<void>[] = [];
  for (const id of ['a', 'b', 'c']) {
    await store.append(canonicalBatch([event(id, NOW)]));
    seals.push(store.sealNow());
  }
  await expect.poll(() => store.problems()).toEqual([expect.stringContaining('events cannot be moved to disk and stay in memory')]);
  await store.append(canonicalBatch([event('d', NOW)]));
  await expect(store.sealNow()).rejects.toMatchObject({ code: 'append_failed', message: expect.stringContaining('memory is full') });
  expect(await storedIds(store)).toEqual(['a', 'b', 'c', 'd']);
  giveBack();
  await Promise.all(seals);
  await store.sealNow();
  expect(store.problems()).toEqual([]);
  expect(store.stats()).toMatchObject({ events: 4, hotEvents: 0 });
  expect(await storedIds(store)).toEqual(['a', 'b', 'c', 'd']);
});

test('a store that cannot seal can be closed, and has everything again at the next start', async () => {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
  const giveBack = takeAway(join(dataDir, 'segments'));
  for (const id of ['a', 'b']) {
    await store.append(canonicalBatch([event(id, NOW)]));
    void store.sealNow();
  }
  await expect.poll(() => store.problems()).toHaveLength(1);
  await store.close();
  giveBack();
  expect(await storedIds(await storeIn(dataDir))).toEqual(['a', 'b']);
});

test('large batches count their duplicates, and are the same after a restart and a seal', async () => {
  const dataDir = temporaryFolder();
  const events = eventSeries('e', 15_000, NOW - 5 * HOUR, 1_000);
  const store = await storeIn(dataDir);
  await store.append(canonicalBatch(events.slice(0, 6_000)));
  await store.append(canonicalBatch(events.slice(3_000, 9_000)));
  await store.append(canonicalBatch([...events.slice(9_000), ...events.slice(9_000, 9_100)]));
  expect(store.stats()).toMatchObject({ events: 15_000, duplicateEvents: 3_100 });
  const expected = inAnswerOrder(events);
  expect(await storedIds(store)).toEqual(expected);
  await store.close();
  const again = await storeIn(dataDir);
  expect(await storedIds(again)).toEqual(expected);
  await again.sealNow();
  expect(await storedIds(again)).toEqual(expected);
  expect(again.stats()).toMatchObject({ events: 15_000, hotEvents: 0, duplicateEvents: 3_100 });
});

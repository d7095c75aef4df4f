import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { SegmentChecks } from '../../../../store/embedded/integrity/segment-checks.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { wholeFeed } from '../feed/whole-feed.ts';
import { eventSeries, HOUR, idsOf, NOW, rowsPlan, storedIds } from '../stored-events.ts';

const ALL_TIMES = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

const journalPath = (dataDir: string, number: number, kind: 'parquet' | 'logs') =>
  join(dataDir, 'journal', `${String(number).padStart(12, '0')}.${kind}`);

const setAside = (dataDir: string) => readdirSync(join(dataDir, 'journal')).filter((name) => name.startsWith('damaged-'));

function flip(path: string): void {
  const content = readFileSync(path);
  content[content.length >> 1] = (content[content.length >> 1] as number) ^ 8;
  writeFileSync(path, content);
}

const SERIES = ['a', 'b', 'c', 'd'].map((prefix, index) => eventSeries(prefix, 10, NOW - HOUR + 100 * index, 1));

const DAMAGE: Readonly<Record<string, (dataDir: string, number: number) => void>> = {
  'events were changed': (dataDir, number) => flip(journalPath(dataDir, number, 'parquet')),
  'logs were changed': (dataDir, number) => flip(journalPath(dataDir, number, 'logs')),
  'events are missing': (dataDir, number) => rmSync(journalPath(dataDir, number, 'parquet')),
  'logs are missing': (dataDir, number) => rmSync(journalPath(dataDir, number, 'logs')),
  'events are cut off': (dataDir, number) => truncateSync(journalPath(dataDir, number, 'parquet'), 10),
  'logs are cut off': (dataDir, number) => truncateSync(journalPath(dataDir, number, 'logs'), 2),
};

test.each(Object.keys(DAMAGE))(
  'a start goes on without journals whose %s, counts their events, and takes them when they are sent again',
  async (name) => {
    for (const numbers of [[1], [2], [1, 2, 3], [2, 3]]) {
      const dataDir = temporaryFolder();
      const store = await embeddedStoreIn(dataDir);
      for (const events of SERIES) await store.append(canonicalBatch(events));
      await store.close();
      for (const number of numbers) DAMAGE[name]?.(dataDir, number);
      const kept = SERIES.filter((_, index) => !numbers.includes(index + 1)).flat();
      for (let start = 0; start < 2; start += 1) {
        const again = await embeddedStoreIn(dataDir);
        expect((await storedIds(again)).toSorted()).toEqual(idsOf(kept).toSorted());
        expect(again.unreadableEvents([7], ALL_TIMES)).toBe(10 * numbers.length);
        expect((await wholeFeed(again, { limit: 3 })).map(({ logId }) => logId)).toEqual(idsOf(kept));
        if (start === 0) await again.flushNow();
        await again.close();
      }
      expect(setAside(dataDir).length).toBeGreaterThanOrEqual(numbers.length);
      const resent = await embeddedStoreIn(dataDir);
      await resent.append(canonicalBatch(SERIES.flat()));
      await resent.flushNow();
      expect((await storedIds(resent)).toSorted()).toEqual(idsOf(SERIES.flat()).toSorted());
      expect((await wholeFeed(resent, { limit: 7 })).map(({ logId }) => logId).toSorted()).toEqual(idsOf(SERIES.flat()).toSorted());
    }
  },
);

test('damaged journals in front of a last one that is not whole count by their logs, and what comes next is there once', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const events of SERIES) await store.append(canonicalBatch(events));
  await store.close();
  for (const number of [2, 3, 4]) DAMAGE['events were changed']?.(dataDir, number);
  const again = await embeddedStoreIn(dataDir);
  expect(await storedIds(again)).toEqual(idsOf(SERIES[0] ?? []).toReversed());
  // The last one may never have been acknowledged.
  expect(again.unreadableEvents([7], ALL_TIMES)).toBe(20);
  await again.append(canonicalBatch(SERIES.flat()));
  await again.flushNow();
  expect((await storedIds(again)).toSorted()).toEqual(idsOf(SERIES.flat()).toSorted());
  expect((await wholeFeed(again, { limit: 7 })).map(({ logId }) => logId).toSorted()).toEqual(idsOf(SERIES.flat()).toSorted());
});

test('a journal that is damaged after its batch was acknowledged is left out at the flush, and no other one', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  // Searched as a file of its own.
  const large = eventSeries('large', 5_000, NOW - HOUR, 1);
  const [first = [], last = []] = SERIES;
  for (const events of [first, large, last]) await store.append(canonicalBatch(events));
  flip(journalPath(dataDir, 2, 'parquet'));
  await store.flushNow();
  expect((await storedIds(store)).toSorted()).toEqual(idsOf([...first, ...last]).toSorted());
  expect(store.unreadableEvents([7], ALL_TIMES)).toBe(5_000);
  expect(store.unreadableEvents([8], ALL_TIMES)).toBe(0);
  expect(store.unreadableEvents([7], { fromMs: NOW - 30 * 60_000, toMs: NOW })).toBe(0);
  expect(setAside(dataDir)).toHaveLength(2);
  expect((await store.append(canonicalBatch(large))).duplicates).toBe(0);
  await store.close();
  const again = await embeddedStoreIn(dataDir);
  expect(await again.search(rowsPlan())).toMatchObject({ total: 5_020 });
});

test('a journal that the disk does not give for a while loses nothing: its flush is tried again', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const large = eventSeries('large', 5_000, NOW - HOUR, 1);
  await store.append(canonicalBatch(large));
  const failing = vi.spyOn(SegmentChecks.prototype, 'faultOf').mockResolvedValueOnce('EIO: i/o error, read');
  await store.flushNow();
  expect(failing).toHaveBeenCalledTimes(2);
  failing.mockRestore();
  expect(await store.search(rowsPlan())).toMatchObject({ total: 5_000 });
  expect(await store.stats()).toMatchObject({ unreadableEvents: 0, unflushedEvents: 0 });
  expect(setAside(dataDir)).toEqual([]);
});

test('a search that comes upon a damaged journal has it flushed away, and answers without it', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const [first = []] = SERIES;
  await store.append(canonicalBatch(first));
  await store.append(canonicalBatch(eventSeries('large', 5_000, NOW - HOUR, 1)));
  const path = journalPath(dataDir, 2, 'parquet');
  writeFileSync(path, readFileSync(path).fill(0xff, 4));
  expect(await storedIds(store)).toEqual(idsOf(first).toReversed());
  expect(store.unreadableEvents('all', ALL_TIMES)).toBe(5_000);
});

test('a journal that is missing whole is no damage: the catalog may be older than its files, and the start is refused', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const events of SERIES) await store.append(canonicalBatch(events));
  await store.close();
  for (const kind of ['parquet', 'logs'] as const) rmSync(journalPath(dataDir, 2, kind));
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('journal 2 is missing'),
  });
});

test('of flipped bits anywhere in the trailer of a journal none moves an offset of Kafka or a time', async () => {
  const offset = { topic: 'shield', partition: 3, nextOffset: 12_345_678_901n };
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const [index, events] of SERIES.entries()) {
    await store.append(canonicalBatch(events, { sourceOffsets: [{ ...offset, partition: index }] }));
  }
  const cursors = async (one: typeof store) =>
    (await wholeFeed(one, { limit: 100 })).map(({ logId, ingestedAtMs }) => [logId, ingestedAtMs]);
  const all = await cursors(store);
  await store.close();
  const path = journalPath(dataDir, 2, 'logs');
  const content = readFileSync(path);
  const trailerAt = content.lastIndexOf('\n', -2) + 1;
  let found = 0;
  for (let at = trailerAt; at < content.length; at += 5) {
    const copy = temporaryFolder();
    cpSync(dataDir, copy, { recursive: true });
    const changed = Buffer.from(content);
    changed[at] = (changed[at] as number) ^ (1 << (at % 8));
    writeFileSync(journalPath(copy, 2, 'logs'), changed);
    const again = await embeddedStoreIn(copy);
    const [whole, lost] = [all, all.filter(([logId]) => !String(logId).startsWith('b'))];
    const answer = await cursors(again);
    const isLost = answer.length < whole.length;
    expect([at, answer]).toEqual([at, isLost ? lost : whole]);
    expect([at, again.unreadableEvents([7], ALL_TIMES)]).toEqual([at, isLost ? 10 : 0]);
    expect([at, await again.sourceOffset('shield', 1)]).toEqual([at, isLost ? undefined : offset.nextOffset]);
    expect(await again.sourceOffset('shield', 2)).toBe(offset.nextOffset);
    found += Number(isLost);
    await again.close();
  }
  expect(found).toBeGreaterThan(40);
});

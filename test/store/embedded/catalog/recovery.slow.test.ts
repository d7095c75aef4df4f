import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type EventStore, type SourceOffset, silentLogger } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, inAnswerOrder, NOW, storedIds } from '../stored-events.ts';
import { startWriter } from '../writer-process.ts';

const journalFile = (dataDir: string, number: number) => join(dataDir, 'journal', `${String(number).padStart(12, '0')}.parquet`);
const logsFile = (dataDir: string, number: number) => join(dataDir, 'journal', `${String(number).padStart(12, '0')}.logs`);

test('an empty folder is made ready, missing parents included', async () => {
  const store = await embeddedStoreIn(join(temporaryFolder(), 'a', 'b'));
  expect(await storedIds(store)).toEqual([]);
  expect(await store.stats()).toMatchObject({ events: 0, segments: 0 });
});

test('events, source offsets, sequences and counters are there again after a restart, flushed or not', async () => {
  const dataDir = temporaryFolder();
  const events = eventSeries('e', 40, NOW - 10 * HOUR, HOUR / 2);
  const store = await embeddedStoreIn(dataDir);
  const sourceOffsets = (nextOffset: bigint) => [{ topic: 't', partition: 0, nextOffset }];
  await store.append(canonicalBatch(events.slice(0, 20), { sourceOffsets: sourceOffsets(20n), expiredCount: 2 }));
  await store.flushNow();
  await store.append(canonicalBatch(events.slice(10, 40), { sourceOffsets: sourceOffsets(40n), expiredCount: 3 }));
  const before = await store.stats();
  await store.close();

  const again = await embeddedStoreIn(dataDir);
  expect(await storedIds(again)).toEqual(inAnswerOrder(events));
  expect(await again.sourceOffset('t', 0)).toBe(40n);
  expect(await again.stats()).toEqual(before);
  const receipt = { firstSequence: 51n, eventCount: 1, duplicates: 0, deadLettersNotKept: [] };
  expect(await again.append(canonicalBatch([event('next', NOW)]))).toEqual(receipt);
});

test('source offsets have the ids of their topics again after a restart, flushed or not, and may lose or change them', async () => {
  const dataDir = temporaryFolder();
  const at = (partition: number, nextOffset: bigint, topicId?: string) => ({
    ...{ topic: 't', partition, nextOffset },
    ...(topicId === undefined ? {} : { topicId }),
  });
  const append = (store: EventStore, ...sourceOffsets: SourceOffset[]) => store.append(canonicalBatch([], { sourceOffsets }));
  const found = (store: EventStore) =>
    Promise.all(
      [0, 1, 2, 3].map(async (partition) => [await store.sourceOffset('t', partition), await store.sourceTopicId('t', partition)]),
    );

  const first = await embeddedStoreIn(dataDir);
  await append(first, at(0, 5n, 'old'), at(1, 6n, 'old'), at(2, 7n));
  await first.flushNow();
  await append(first, at(1, 2n, 'new'), at(2, 8n, 'new'));
  const before = [
    [5n, 'old'],
    [2n, 'new'],
    [8n, 'new'],
    [undefined, undefined],
  ];
  expect(await found(first)).toEqual(before);
  await first.close();

  const second = await embeddedStoreIn(dataDir);
  expect(await found(second)).toEqual(before);
  await append(second, at(0, 6n));
  await second.flushNow();
  await second.close();
  expect(await found(await embeddedStoreIn(dataDir))).toEqual([[6n, undefined], ...before.slice(1)]);
});

/** The files of a journal that was set aside at `NOW`. */
const setAside = (number: number) => ['logs', 'parquet'].map((kind) => `damaged-${NOW}-${String(number).padStart(12, '0')}.${kind}`);

test('a last journal that is not whole is set aside: its batch was not acknowledged, or was damaged later', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch([event('a', NOW)], { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 1n }] }));
  await store.append(canonicalBatch([event('b', NOW)], { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 2n }] }));
  await store.close();
  const whole = statSync(journalFile(dataDir, 2)).size;
  for (const length of [0, 1, 20, whole - 50, whole - 2, whole - 1]) {
    const copy = temporaryFolder();
    cpSync(dataDir, copy, { recursive: true });
    truncateSync(journalFile(copy, 2), length);
    const warn = vi.fn();
    const again = await embeddedStoreIn(copy, { logger: { ...silentLogger, warn } });
    expect(await storedIds(again)).toEqual(['a']);
    expect(await again.sourceOffset('t', 0)).toBe(1n);
    const details = { journal: 2, folder: join(copy, 'journal'), files: setAside(2).toReversed() };
    expect(warn.mock.calls).toEqual([[details, expect.stringMatching(/^the last journal is not whole, and is set aside/)]]);
    expect(statSync(join(copy, 'journal', setAside(2)[1] ?? '')).size).toBe(length);
    await again.append(canonicalBatch([event('b', NOW)]));
    expect(await storedIds(again)).toEqual(['a', 'b']);
  }
});

describe('a journal that was being written over an older one', () => {
  const large = (first: number) =>
    Array.from({ length: 4_000 }, (_, n) => event(`${first + n}`, NOW + n)).map((one) => ({
      ...one,
      ua: `${one.logId} `.repeat(60),
      log: { text: `${one.logId} `.repeat(60) },
    }));
  const names = ['000000000002.parquet', '000000000002.logs'];

  /** The files of the first journal, and of the second, which are the same ones, and the folder with the second. */
  async function writtenOver() {
    const dataDir = temporaryFolder();
    const folder = join(dataDir, 'journal');
    const store = await embeddedStoreIn(dataDir);
    await store.append(canonicalBatch(large(10_000)));
    const files = readdirSync(folder).map((name) => ({
      inode: statSync(join(folder, name)).ino,
      content: readFileSync(join(folder, name)),
    }));
    await store.flushNow();
    await store.append(canonicalBatch(large(20_000)));
    const pairs = names.map((name) => {
      const { ino } = statSync(join(folder, name));
      const old = files.find(({ inode }) => inode === ino)?.content ?? Buffer.alloc(0);
      return { name, old, content: readFileSync(join(folder, name)) };
    });
    await store.close();
    return { dataDir, pairs };
  }

  test('is one of few: while nothing comes in, files that are not needed do not stay', async () => {
    const dataDir = temporaryFolder();
    const store = await embeddedStoreIn(dataDir, { backgroundJobsEveryMs: 3_000 });
    await store.append(canonicalBatch(large(10_000)));
    await store.flushNow();
    const names = () => readdirSync(join(dataDir, 'journal'));
    expect(names()).toEqual(['recycled-1', 'recycled-2']);
    await expect.poll(names).toEqual([]);
    await store.append(canonicalBatch(large(20_000)));
    expect(names()).toEqual(['000000000002.logs', '000000000002.parquet']);
  });

  test('is one of none once everything was merged on demand', async () => {
    const dataDir = temporaryFolder();
    const store = await embeddedStoreIn(dataDir);
    await store.append(canonicalBatch(large(10_000)));
    await store.flushNow();
    await store.compactNow();
    expect(readdirSync(join(dataDir, 'journal'))).toEqual([]);
  });

  test('has its files, and is whole', async () => {
    const { dataDir, pairs } = await writtenOver();
    expect(pairs.map(({ old }) => old.length > 1_000_000)).toEqual([true, true]);
    const again = await embeddedStoreIn(dataDir);
    expect(await again.stats()).toMatchObject({ events: 8_000, unflushedEvents: 4_000 });
    expect(readdirSync(join(dataDir, 'journal'))).toEqual(['000000000002.logs', '000000000002.parquet']);
  });

  test.each([
    ['nothing was written yet', (_: Buffer, old: Buffer) => old],
    ['a half was written', (content: Buffer, old: Buffer) => Buffer.concat([content.subarray(0, 500_000), old.subarray(500_000)])],
    [
      'a page was not',
      (content: Buffer, old: Buffer) => Buffer.concat([content.subarray(0, 4_096), old.subarray(4_096, 8_192), content.subarray(8_192)]),
    ],
    ['it was not cut to its length', (content: Buffer, old: Buffer) => Buffer.concat([content, old.subarray(0, 1_000)])],
  ])('is torn if a crash came when %s', async (_, left) => {
    const { dataDir, pairs } = await writtenOver();
    for (const { name, old, content } of pairs) {
      const copy = temporaryFolder();
      cpSync(dataDir, copy, { recursive: true });
      writeFileSync(join(copy, 'journal', name), left(content, old));
      const again = await embeddedStoreIn(copy);
      expect(await again.stats()).toMatchObject({ events: 4_000, unflushedEvents: 0 });
      expect(readdirSync(join(copy, 'journal'))).toEqual(setAside(2));
    }
  });

  test('is torn if a crash came before anything of it was written: the older journal does not count again', async () => {
    const { dataDir, pairs } = await writtenOver();
    for (const { name, old } of pairs) {
      writeFileSync(join(dataDir, 'journal', name), old);
    }
    const again = await embeddedStoreIn(dataDir);
    expect(await again.stats()).toMatchObject({ events: 4_000, unflushedEvents: 0, duplicateEvents: 0 });
    expect(readdirSync(join(dataDir, 'journal'))).toEqual(setAside(2));
  });
});

describe('a folder that lost something is refused with what it lost, and nothing in it is touched', () => {
  test.each([
    [
      'a journal in between is missing',
      (dataDir: string) => {
        rmSync(journalFile(dataDir, 2));
        rmSync(logsFile(dataDir, 2));
      },
      /journal 2 is missing, journal 3 is there/,
    ],
  ])('%s', async (_, damage, message) => {
    const dataDir = temporaryFolder();
    const store = await embeddedStoreIn(dataDir);
    for (const id of ['a', 'b', 'c']) {
      await store.append(canonicalBatch([event(id, NOW)]));
    }
    await store.close();
    damage(dataDir);
    const left = readdirSync(join(dataDir, 'journal'));
    await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({ code: 'corrupt', message: expect.stringMatching(message) });
    expect(readdirSync(join(dataDir, 'journal'))).toEqual(left);
  });
});

test('a folder that another process uses is refused with a clear line', async () => {
  const dataDir = temporaryFolder();
  await startWriter(dataDir);
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({
    code: 'folder_in_use',
    message: expect.stringMatching(/^DATA_DIR: another shieldlog process is using ".*catalog\.sqlite"; stop it or choose another folder$/),
  });
});

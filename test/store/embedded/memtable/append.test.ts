import { readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { columnIndex } from '../../../../query/batch-columns.ts';
import { memoryOfLetter } from '../../../../store/dead-letter.ts';
import { EmptyJournalTable } from '../../../../store/embedded/journal/empty-journal-table.ts';
import { JournalFolder } from '../../../../store/embedded/journal/journal-folder.ts';
import { AppendPipeline } from '../../../../store/embedded/memtable/append-pipeline.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, eventSeries, HOUR, idsOf, inAnswerOrder, NOW, storedIds, ZONE } from '../stored-events.ts';

test('an append resolves when its events can be searched and its journal is on disk', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const receipt = await store.append(canonicalBatch([event('a', NOW), event('b', NOW + 1)]));
  expect(receipt).toEqual({ firstSequence: 1n, eventCount: 2, duplicates: 0, deadLettersNotKept: [] });
  expect(await storedIds(store)).toEqual(['b', 'a']);
  expect(readdirSync(join(dataDir, 'journal'))).toEqual(['000000000001.logs', '000000000001.parquet']);
});

test('appends under way at the same time are applied in the order of the calls', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const batches = Array.from({ length: 20 }, (_, index) => eventSeries(`b${index}-`, 50, NOW + index, 1));
  const receipts = await Promise.all(batches.map((events) => store.append(canonicalBatch(events))));
  expect(receipts.map(({ firstSequence }) => firstSequence)).toEqual(batches.map((_, index) => BigInt(1 + index * 50)));
  expect(new Set(await storedIds(store))).toEqual(new Set(batches.flatMap(idsOf)));
  expect(store.pendingBytes()).toBe(0);
});

test('batches that come together are one journal of up to 10,000 events, and their source offsets move as if they were apart', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const at = (partition: number, nextOffset: bigint) => ({ sourceOffsets: [{ topic: 'shield', partition, nextOffset }] });
  const letter = {
    bytes: Buffer.from('x'),
    reason: 'no event',
    source: 'kafka',
    topic: 'shield',
    partition: 0,
    offset: 3n,
    cut: null,
    zoneId: null,
  };
  const batches = [
    canonicalBatch(eventSeries('a', 3_000, NOW, 1), at(0, 1n)),
    canonicalBatch(eventSeries('A', 3_000, NOW, 1)),
    canonicalBatch(eventSeries('b', 4_000, NOW, 1), at(1, 7n)),
    // One event more than fits into the first journal.
    canonicalBatch([...eventSeries('b', 1, NOW, 1)], at(0, 2n)),
    canonicalBatch([], { ...at(0, 4n), deadLetters: [letter], expiredCount: 5 }),
    canonicalBatch(eventSeries('c', 20_000, NOW, 1), at(2, 1n)),
  ];
  const receipts = await Promise.all(batches.map((batch) => store.append(batch)));
  expect(receipts.map(({ firstSequence, eventCount }) => [firstSequence, eventCount])).toEqual([
    [1n, 3_000],
    [3_001n, 3_000],
    [6_001n, 4_000],
    [10_001n, 1],
    [10_002n, 0],
    [10_002n, 20_000],
  ]);
  expect(readdirSync(join(dataDir, 'journal'))).toHaveLength(2 * 3);
  const expectWhole = async (whole: typeof store): Promise<void> => {
    expect(await Promise.all([0, 1, 2].map((partition) => whole.sourceOffset('shield', partition)))).toEqual([4n, 7n, 1n]);
    expect(await whole.stats()).toMatchObject({ events: 30_000, duplicateEvents: 1, expiredEvents: 5, deadLetters: 1 });
  };
  await expectWhole(store);
  await store.close();
  await expectWhole(await embeddedStoreIn(dataDir));
});

test('the same log id for the same zone and time counts once, within a batch, across batches and across segments', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const first = eventSeries('e', 10, NOW, HOUR);
  await store.append(canonicalBatch([...first, ...first]));
  await store.append(canonicalBatch(first));
  await store.flushNow();
  await store.append(canonicalBatch([...first, event('new', NOW)]));
  expect(await storedIds(store)).toEqual(inAnswerOrder([...first, event('new', NOW)]));
  expect(await store.stats()).toMatchObject({ events: 11, duplicateEvents: 30 });
});

test('the same log id in another zone or at another time is another event', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.append(canonicalBatch([event('x', NOW), event('x', NOW + 1), event('x', NOW, { shieldZoneId: ZONE + 1 })]));
  await store.append(canonicalBatch([event('x', NOW + 2)]));
  expect(await storedIds(store)).toEqual(['x', 'x', 'x']);
  expect((await store.stats()).events).toBe(4);
});

test('source offsets move with the batch, also when it holds nothing to store', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  expect(await store.sourceOffset('shield', 3)).toBeUndefined();
  await store.append(canonicalBatch([event('a', NOW)], { sourceOffsets: [{ topic: 'shield', partition: 3, nextOffset: 5n }] }));
  await store.append(
    canonicalBatch([], { sourceOffsets: [{ topic: 'shield', partition: 3, nextOffset: 9_007_199_254_740_993n }], expiredCount: 4 }),
  );
  expect(await store.sourceOffset('shield', 3)).toBe(9_007_199_254_740_993n);
  expect((await store.stats()).expiredEvents).toBe(4);
});

test('a dead letter is kept once with its bytes, however often it is delivered', async () => {
  const store = await embeddedStoreIn(temporaryFolder(), { now: () => NOW });
  const letter = {
    bytes: Buffer.from([0, 255, 10]),
    reason: 'not UTF-8',
    source: 'kafka',
    topic: 'shield',
    partition: 0,
    offset: 12n,
    cut: null,
    zoneId: null,
  };
  await store.append(canonicalBatch([], { deadLetters: [letter] }));
  await store.append(canonicalBatch([], { deadLetters: [letter, { ...letter, offset: 13n }] }));
  const [first, second, ...rest] = await store.listDeadLetters({ zones: 'all', limit: 10 });
  expect(first).toMatchObject({ reason: 'not UTF-8', topic: 'shield', partition: 0, offset: 12n, receivedAtMs: NOW });
  expect([...(first?.bytes ?? [])]).toEqual([0, 255, 10]);
  expect(second?.offset).toBe(13n);
  expect(rest).toEqual([]);
  expect(await store.removeDeadLetters({ zones: 'all', ids: [first?.id ?? '', '999'], limit: 2 })).toBe(1);
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ offset }) => offset)).toEqual([13n]);
});

test('the bytes of events and of dead letters are pending until the batch is stored', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const letter = {
    bytes: Buffer.alloc(1_000),
    reason: 'no event',
    source: 'http',
    topic: null,
    partition: null,
    offset: null,
    cut: null,
    zoneId: null,
  };
  const shorter = { ...letter, bytes: Buffer.alloc(500) };
  const events = canonicalBatch([event('a', NOW)]);
  const eventBytes = Buffer.concat([...events.fields.values.flat(), ...events.fields.masks, ...events.logs]).byteLength;
  const stored = [store.append({ ...events, deadLetters: [letter, shorter] }), store.append(canonicalBatch([], { deadLetters: [letter] }))];
  expect(store.pendingBytes()).toBe(eventBytes + 2 * memoryOfLetter(letter) + memoryOfLetter(shorter));
  await Promise.all(stored);
  expect(store.pendingBytes()).toBe(0);
});

test('a batch with fewer values than events cannot be read: it is refused, nothing of it is stored, and later ones go on', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const good = canonicalBatch([event('a', NOW), event('b', NOW + 1)]);
  const values = good.fields.values.map((chunks, index) => (index === columnIndex('timestamp') ? [Buffer.alloc(8)] : chunks));
  await expect(store.append({ ...good, fields: { ...good.fields, values } })).rejects.toMatchObject({ code: 'append_failed' });
  await expect.poll(() => store.append(good)).toEqual({ firstSequence: 1n, eventCount: 2, duplicates: 0, deadLettersNotKept: [] });
  expect(await storedIds(store)).toEqual(['b', 'a']);
  expect(readdirSync(join(dataDir, 'journal'))).toEqual(['000000000001.logs', '000000000001.parquet']);
});

test('a batch that cannot be written takes those behind it along, stores nothing of them, and later ones go on without a gap', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const sourceOffset = (nextOffset: bigint) => ({ sourceOffsets: [{ topic: 't', partition: 0, nextOffset }] });
  await store.append(canonicalBatch([event('a', NOW)], sourceOffset(1n)));
  rmSync(join(dataDir, 'journal'), { recursive: true });
  const failed = await Promise.allSettled([
    store.append(canonicalBatch([event('b', NOW + 1)], sourceOffset(2n))),
    store.append(canonicalBatch([event('c', NOW + 2)], sourceOffset(3n))),
  ]);
  expect(failed.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(['append_failed', 'append_failed']);
  expect(await store.sourceOffset('t', 0)).toBe(1n);
  expect(await store.reasonsNotReady()).toContainEqual(expect.stringMatching(/^the data folder .* is not the one that was opened: ENOENT/));
  await mkdir(join(dataDir, 'journal'));
  await expect
    .poll(() => store.append(canonicalBatch([event('b', NOW + 1), event('c', NOW + 2)], sourceOffset(3n))))
    .toMatchObject({ firstSequence: 2n });
  expect(await storedIds(store)).toEqual(['c', 'b', 'a']);
  expect(await store.sourceOffset('t', 0)).toBe(3n);
  expect(await store.reasonsNotReady()).toEqual([]);
});

const epochs = { begin: () => undefined };

test('a batch that DuckDB has no memory for has failed: no append is refused because there is too much to do', async () => {
  const loader = { load: () => Promise.reject(new Error('Out of Memory Error: failed to allocate')), end: { journal: 1, sequence: 1n } };
  const journals = new JournalFolder(temporaryFolder(), new EmptyJournalTable(new DatabaseSync(':memory:')));
  const pipeline = new AppendPipeline({ journals, epochs, loader, deadLetters: { add: async () => [] }, failureHoldMs: 0, now: () => NOW });
  const message = 'a batch of 1 events could not be stored: Out of Memory Error: failed to allocate';
  await expect(pipeline.append(canonicalBatch([event('a', NOW)]))).rejects.toMatchObject({ code: 'append_failed', message });
  await pipeline.close();
});

test('a store closes while what a failed batch left cannot be removed, whichever of the two is told first', async () => {
  const removing = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  class LostFolder extends JournalFolder {
    override async remove(): Promise<void> {
      removing.resolve();
      await gate.promise;
      throw new Error('EIO: i/o error');
    }
  }
  const journals = new LostFolder(join(temporaryFolder(), 'gone'), new EmptyJournalTable(new DatabaseSync(':memory:')));
  const loader = { load: async () => undefined, end: { journal: 1, sequence: 1n } };
  const pipeline = new AppendPipeline({ journals, epochs, loader, deadLetters: { add: async () => [] }, failureHoldMs: 0, now: () => NOW });
  await expect(pipeline.append(canonicalBatch([event('a', NOW)]))).rejects.toMatchObject({ code: 'append_failed' });
  await removing.promise;
  expect(pipeline.failure?.message).toContain('a batch of 1 events could not be stored: ENOENT');
  const closed = pipeline.close();
  gate.resolve();
  await closed;
  await expect(pipeline.append(canonicalBatch([event('b', NOW)]))).rejects.toMatchObject({ code: 'closed' });
});

test('appends to a closed store are refused', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  await store.close();
  await expect(store.append(canonicalBatch([event('a', NOW)]))).rejects.toMatchObject({ code: 'closed' });
});

test('a folder that cannot be written to is refused with its name', async () => {
  const parent = temporaryFolder();
  const file = join(parent, 'catalog.sqlite');
  await mkdir(file);
  await expect(embeddedStoreIn(parent)).rejects.toMatchObject({ code: 'folder_unusable', message: expect.stringContaining(file) });
});

test.each(['/proc/shieldlog', '/dev/null/shieldlog'])('a folder that cannot be made, %s, is refused with its name', async (dataDir) => {
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({ code: 'folder_unusable', message: expect.stringContaining(dataDir) });
});

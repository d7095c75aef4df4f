import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../store/event-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { ALL, add, fromKafka, kept, letters, QUOTA } from '../fixtures/quota-letters.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';

describe('where the quota is used up', () => {
  test('letters of another zone take the room of the oldest of the zone that has most, whose own new ones are not kept', async () => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    expect(await add(store, ...letters(1, 11, 10_000))).toEqual([10]);
    const before = (await store.listDeadLetters(ALL)).map(({ id }) => id);
    expect(await add(store, ...letters(2, 2, 10_000))).toEqual([]);
    expect((await store.listDeadLetters({ ...ALL, zones: [1] })).map(({ id }) => id)).toEqual(before.slice(2));
    expect(await add(store, ...letters(1, 1, 10_000), ...letters(1, 1, 500))).toEqual([0, 1]);
    expect(await kept(store)).toEqual({ 'zone 1': 8, 'zone 2': 2 });
  });

  test.each([
    ['two zones', [1, 2], { 'zone 1': 5, 'zone 2': 5 }],
    ['a zone and letters without one, which count as one zone', [1, null], { 'zone 1': 5, 'zone null': 5 }],
    ['letters without a zone first', [null, 1], { 'zone 1': 5, 'zone null': 5 }],
    ['zones of all signs', [-2_147_483_648, 0, 2_147_483_647], { 'zone -2147483648': 3, 'zone 0': 3, 'zone 2147483647': 4 }],
    ['five zones', [1, 2, 3, 4, 5], { 'zone 1': 2, 'zone 2': 2, 'zone 3': 2, 'zone 4': 2, 'zone 5': 2 }],
  ])('%s that send without end have equal shares', async (_name, zones, shares) => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    for (const zone of zones) await add(store, ...letters(zone, 30, 10_000));
    expect(await kept(store)).toEqual(shares);
  });

  test('nothing gives way to a letter that has no room even so', async () => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    await add(store, ...letters(1, 6, 10_000), ...letters(2, 4, 10_000));
    for (const [zone, size] of [
      [3, 100_001],
      [2, 80_000],
    ] as const)
      expect(await add(store, ...letters(zone, 1, size))).toEqual([0]);
    expect(await kept(store)).toEqual({ 'zone 1': 6, 'zone 2': 4 });
    expect(await add(store, ...letters(3, 1, 100_000))).toEqual([]);
    expect(await kept(store)).toEqual({ 'zone 3': 1 });
  });

  test('many small letters give way to a large one', async () => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    await add(store, ...letters(1, 200, 500));
    expect(await add(store, ...letters(2, 1, 40_000))).toEqual([]);
    expect(await kept(store)).toEqual({ 'zone 1': 120, 'zone 2': 1 });
  });

  test('a letter from Kafka that gives way leaves a record, as one does that is not kept', async () => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    await add(store, ...[0n, 1n, 2n, 3n, 4n, 5n].flatMap((offset) => letters(1, 1, 20_000, { ...fromKafka, offset })));
    expect(await kept(store)).toEqual({ 'zone 1': 5, records: 1 });
    expect(await add(store, ...letters(2, 2, 20_000))).toEqual([]);
    expect(await kept(store)).toEqual({ 'zone 1': 3, 'zone 2': 2, records: 3 });
    const records = (await store.listDeadLetters(ALL)).filter(({ isWhole }) => !isWhole);
    expect(records.map(({ offset, sizeBytes, bytes, reason }) => [offset, sizeBytes, bytes.length, reason])).toEqual([
      [0n, 19_592, 0, 'no event'],
      [1n, 19_592, 0, 'no event'],
      [5n, 19_592, 0, 'no event'],
    ]);
    expect((await store.stats()).deadLetters).toBe(8);
  });

  test('the records of one zone push no records of another one out', async () => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    const records = (zone: number, count: number, from: number) =>
      Array.from({ length: count }, (_, index) => letters(zone, 1, 100_001, { ...fromKafka, offset: BigInt(from + index) })).flat();
    await add(store, ...records(1, 2, 0));
    await add(store, ...records(2, 100, 100));
    const zones = (await store.listDeadLetters(ALL)).map(({ zoneId }) => zoneId);
    expect(zones.slice(0, 3)).toEqual([1, 1, 2]);
    expect(zones.length).toBeLessThan(20);
  });

  test('an upload is told of a letter that gave way to a later one of its own, and so is one that is stored with it', async () => {
    const store = await storeIn(temporaryFolder(), QUOTA);
    expect(await add(store, ...letters(1, 10, 10_000), ...letters(2, 3, 10_000))).toEqual([0, 1, 2]);
    expect(await add(store, ...letters(3, 600, 500))).toEqual(Array.from({ length: 600 - 80 }, (_, index) => 80 + index));
    const first = store.append(canonicalBatch([], { deadLetters: letters(4, 1, 600) }));
    const others = [5, 6].map((zone) => store.append(canonicalBatch([], { deadLetters: letters(zone, 1, 100_000) })));
    const told = (await Promise.all([first, ...others])).map(({ deadLettersNotKept }) => deadLettersNotKept.length);
    expect(await kept(store)).toEqual({ 'zone 6': 1 });
    expect(told.at(-1)).toBe(0);
  });

  test('what gave way is logged', async () => {
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (...line: unknown[]) => warnings.push(line) };
    const store = await storeIn(temporaryFolder(), { ...QUOTA, logger });
    await add(store, ...letters(1, 10, 10_000));
    expect(warnings).toEqual([]);
    await add(store, ...letters(2, 3, 10_000));
    expect(warnings).toEqual([[{ letters: 0, gaveWay: 3, droppedRecords: 0 }, expect.stringContaining('DEAD_LETTER_MAX_MB')]]);
  });
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { estimateBytes, zoneRowCacheLimits } from '../../../../store/embedded/cache/zone-row-cache-limits.ts';
import { silentLogger } from '../../../../store/store-logger.ts';
import { zoneRowCacheUnderTest } from './zone-row-cache-under-test.ts';

const ZONE = 7;

/** A zone row cache that has the zone, from three segments. */
async function withTable(limits = {}, logger = silentLogger) {
  const under = await zoneRowCacheUnderTest(limits, logger);
  const segments = [
    await under.addSegment({ [ZONE]: 10, 8: 5 }),
    await under.addSegment({ [ZONE]: 20 }),
    await under.addSegment({ [ZONE]: 30 }, 5_000),
  ];
  await under.search(ZONE);
  await under.search(ZONE);
  expect(await under.inMemory()).toBe(1);
  return { ...under, segments };
}

test('the second search of many files makes a table, which the third one reads in the place of all of them', async () => {
  const { addSegment, search, acquire, rowsIn } = await zoneRowCacheUnderTest();
  const segments = [await addSegment({ [ZONE]: 10, 8: 5 }), await addSegment({ [ZONE]: 20 }), await addSegment({ [ZONE]: 30 }, 5_000)];
  expect(await search(ZONE)).toBe(false);
  expect(acquire(ZONE)).toBeUndefined();
  expect(await search(8)).toBe(false);
  const lease = acquire(ZONE);
  expect(lease?.segments).toEqual(new Set(segments));
  expect(lease?.table).toMatchObject({ zoneRows: new Map([[ZONE, 60]]), minTimestamp: 1_000, maxTimestamp: 5_029 });
  const [[rows, zones, id] = []] = await rowsIn(
    `SELECT count(*), count(DISTINCT "shieldZoneId"), min("logIdText") FROM ${lease?.table.table}`,
  );
  expect([Number(rows), Number(zones), id]).toEqual([60, 1, 's1-0']);
});

test.each([
  ['searches of few files', { manyFiles: 4 }],
  ['zones with many rows', { maxRows: 59 }],
  ['searches that are far apart', { keptMs: -1 }],
  ['a zone that takes more memory than all may', { maxBytes: 1_000 }],
])('no table is made for %s', async (_, limits) => {
  const { addSegment, search, inMemory } = await zoneRowCacheUnderTest(limits);
  for (const rows of [10, 20, 30]) {
    await addSegment({ [ZONE]: rows });
  }
  for (let searches = 0; searches < 3; searches += 1) {
    expect(await search(ZONE)).toBe(false);
  }
  expect(await inMemory()).toBe(0);
});

test('files outside of the window do not count as read', async () => {
  const { addSegment, search, inMemory } = await zoneRowCacheUnderTest();
  for (const firstTime of [1_000, 2_000, 3_000]) {
    await addSegment({ [ZONE]: 10 }, firstTime);
  }
  const window = { fromMs: 2_000, toMs: 4_000 };
  await search(ZONE, window);
  await search(ZONE, window);
  expect(await inMemory()).toBe(0);
});

test('searches at the same time have one table made', async () => {
  const { addSegment, acquire, tables, rowsIn } = await zoneRowCacheUnderTest();
  for (const rows of [10, 20, 30]) {
    await addSegment({ [ZONE]: rows });
  }
  for (let searches = 0; searches < 8; searches += 1) {
    expect(acquire(ZONE)).toBeUndefined();
  }
  await tables.idle();
  expect(acquire(ZONE)?.table.id).toBe(-1);
  const made = await rowsIn(`SELECT database_name FROM duckdb_databases() WHERE database_name LIKE 'cached_zone%'`);
  expect(made).toEqual([['cached_zone_1']]);
});

test('segments that came later are read beside a table, and when they are many it is made anew with them', async () => {
  const { addSegment, search, acquire, clock, inMemory, segments } = await withTable();
  const later = [await addSegment({ [ZONE]: 1 }), await addSegment({ [ZONE]: 2 })];
  await search(ZONE);
  await search(ZONE);
  expect(acquire(ZONE)?.segments).toEqual(new Set(segments));
  later.push(await addSegment({ [ZONE]: 3 }));
  await search(ZONE);
  await search(ZONE);
  // Not so soon after it was made.
  expect(await inMemory()).toBe(1);
  clock.nowMs += zoneRowCacheLimits(256).remadeAfterMs;
  expect(await search(ZONE)).toBe(true);
  expect(await search(ZONE)).toBe(true);
  const lease = acquire(ZONE);
  expect(lease?.segments).toEqual(new Set([...segments, ...later]));
  expect(lease?.table.zoneRows.get(ZONE)).toBe(66);
  // The other one is still read.
  expect(await inMemory()).toBe(2);
});

test('a table goes once one of its segments is gone, and the next search but one makes another', async () => {
  const { versions, addSegment, search, clock, inMemory, segments } = await withTable();
  await addSegment({ [ZONE]: 60 });
  await addSegment({ [ZONE]: 60 });
  versions.exchange({ removeSegments: [segments[1] as (typeof segments)[number]] });
  expect(await search(ZONE)).toBe(false);
  expect(await inMemory()).toBe(0);
  clock.nowMs += zoneRowCacheLimits(256).remadeAfterMs;
  expect(await search(ZONE)).toBe(false);
  expect(await search(ZONE)).toBe(false);
  expect(await search(ZONE)).toBe(true);
});

test('a search whose snapshot lacks a segment of the table does not get it', async () => {
  const { versions, tables, addSegment, search } = await zoneRowCacheUnderTest();
  await addSegment({ [ZONE]: 1 });
  await addSegment({ [ZONE]: 1 });
  const before = versions.snapshot();
  await addSegment({ [ZONE]: 1 });
  await search(ZONE);
  await search(ZONE);
  expect(tables.count).toBe(1);
  expect(tables.acquire({ zoneId: ZONE, window: { fromMs: 0, toMs: 9_999 } }, before)).toBeUndefined();
  before.release();
});

test('a table that is dropped stays for those who read it', async () => {
  const { acquire, tables, inMemory, rowsIn } = await withTable();
  const [first, second] = [acquire(ZONE), acquire(ZONE)];
  tables.evictAll();
  first?.release();
  await tables.idle();
  expect(await rowsIn(`SELECT count(*) FROM ${second?.table.table}`)).toEqual([[60n]]);
  second?.release();
  await tables.idle();
  expect(await inMemory()).toBe(0);
});

test('the table that was used least recently makes room, unless it is in use', async () => {
  const limits = zoneRowCacheLimits(256);
  const under = await zoneRowCacheUnderTest({ maxBytes: 600_000, remadeAfterMs: 0 });
  const { addSegment, search, tables, clock, inMemory } = under;
  for (let segment = 0; segment < 3; segment += 1) {
    await addSegment({ 1: 10, 2: 10, 3: 10 });
  }
  const ask = async (zone: number): Promise<boolean> => {
    clock.nowMs += 1_000;
    await search(zone);
    await search(zone);
    return await search(zone);
  };
  expect(await ask(1)).toBe(true);
  expect(await ask(2)).toBe(true);
  expect(await ask(3)).toBe(false);
  clock.nowMs += limits.inUseMs;
  expect(await search(1)).toBe(true);
  expect(await ask(3)).toBe(true);
  expect([await search(1), await search(2), await search(3)]).toEqual([true, false, true]);
  expect(tables.count).toBe(2);
  expect(tables.bytes).toBeLessThanOrEqual(600_000);
  expect(await inMemory()).toBe(2);
});

test('tables that nobody uses go after a while', async () => {
  const { tables, clock, search, inMemory } = await withTable();
  clock.nowMs += zoneRowCacheLimits(256).keptMs;
  tables.evictUnused();
  expect(await search(ZONE)).toBe(true);
  clock.nowMs += zoneRowCacheLimits(256).keptMs + 1;
  tables.evictUnused();
  await tables.idle();
  expect([tables.count, tables.bytes, await inMemory()]).toEqual([0, 0, 0]);
  expect(await search(ZONE)).toBe(false);
});

test('when memory is short all tables go, and none is made for a while', async () => {
  const { tables, clock, search, inMemory } = await withTable();
  tables.evictAll();
  await tables.idle();
  expect(await inMemory()).toBe(0);
  for (let searches = 0; searches < 3; searches += 1) {
    expect(await search(ZONE)).toBe(false);
  }
  clock.nowMs += zoneRowCacheLimits(256).pauseMs;
  await search(ZONE);
  await search(ZONE);
  expect(await search(ZONE)).toBe(true);
});

test.each([
  ['has no file', 'No files found', async (folder: string) => rmSync(join(folder, '4.parquet'))],
  [
    'does not fit into memory',
    'Out of Memory',
    async (_: string, run: (sql: string) => Promise<unknown>) => await run(`SET memory_limit = '2MB'`),
  ],
])('a table of a segment that %s is not made, leaves nothing behind, and the operator is told once', async (_, message, spoil) => {
  const warn = vi.fn();
  const { folder, rowsIn, addSegment, search, inMemory, tables } = await withTable({}, { ...silentLogger, warn });
  for (let segment = 0; segment < 3; segment += 1) {
    await addSegment({ 9: 4_000 });
  }
  await spoil(folder, rowsIn);
  for (let searches = 0; searches < 4; searches += 1) {
    expect(await search(9)).toBe(false);
  }
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ zoneId: 9, err: expect.objectContaining({ message: expect.stringContaining(message) }) }),
    expect.any(String),
  );
  expect([tables.count, await inMemory()]).toEqual([0, 0]);
});

test('closing interrupts a table that is being made', async () => {
  const warn = vi.fn();
  const { addSegment, acquire, tables, inMemory } = await zoneRowCacheUnderTest(
    { maxRows: 10_000_000, maxBytes: 1e9 },
    { ...silentLogger, warn },
  );
  for (let segment = 0; segment < 3; segment += 1) {
    await addSegment({ [ZONE]: 500_000 });
  }
  acquire(ZONE);
  acquire(ZONE);
  await expect.poll(inMemory).toBe(1);
  await tables.close();
  expect([tables.count, await inMemory(), warn.mock.calls]).toEqual([0, 0, []]);
});

test('what a zone takes is estimated from its part of the files', () => {
  const segment = (bytes: number, rows: number, ofZone: number) => ({
    ...{ id: 1, file: '1.parquet', minTimestamp: 0, maxTimestamp: 0, minSequence: 0n, maxSequence: 0n },
    ...{ bytes, rows, zoneRows: new Map([[ZONE, ofZone]]) },
  });
  expect(estimateBytes(ZONE, [segment(1_000_000, 1_000, 100), segment(500_000, 500, 500)])).toBe(262_144 + 2 * 600_000 + 8 * 600);
});

test.each([
  [256, 12_800, 16],
  [1_024, 50_000, 64],
  [65_536, 50_000, 64],
])('with %i MiB for the engine a zone may have %i rows and all tables %i MiB', (memoryLimitMb, maxRows, mebibytes) => {
  expect(zoneRowCacheLimits(memoryLimitMb)).toMatchObject({ maxRows, maxBytes: mebibytes * 1024 * 1024 });
});

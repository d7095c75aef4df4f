import { describe, expect, test } from 'vitest';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { eventually } from '../fixtures/eventually.ts';
import { event, HOUR, NOW, rowsPlan } from '../store/embedded/stored-events.ts';
import { breakableServer } from './engine.ts';
import { PLACES, readFeed, sharedStore } from './shared-store.ts';

const DAY = 24 * HOUR;

describe.each(PLACES)('on %s', (place) => {
  test('what a read of zones may have to look at is counted once a store is open', async () => {
    const shared = await sharedStore(undefined, place);
    const one = await shared.open();
    await one.append(canonicalBatch([event('a', NOW), event('b', NOW), event('c', NOW, { shieldZoneId: 8 })]));
    const other = await shared.open({}, undefined, { sweepEveryMs: DAY });
    await eventually('the zones are counted', () => other.mostEvents('all') > 0);
    expect([other.mostEvents('all'), other.mostEvents([7]), other.mostEvents([7, 8, 9])]).toEqual([3, 2, 3]);
  });

  test('the retention drops whole days, and tells a reader of the feed who has missed events', async () => {
    const shared = await sharedStore(undefined, place);
    const store = await shared.open();
    const late = await store.positions.oldest();
    const days = [0, 1, 2, 3, 4, 5].map((day) => event(`d${day}`, NOW - day * DAY, { shieldZoneId: day }));
    await store.append(canonicalBatch(days));
    const [first] = await readFeed(store);
    await store.dropExpiredNow();
    const kept = (await readFeed(store)).map(({ logId }) => logId).sort();
    expect(kept).toEqual(['d0', 'd1', 'd2', 'd3']);
    const { newest, oldest } = { newest: await store.positions.newest(), oldest: await store.positions.oldest() };
    expect(await store.positions.afterExpiry('all', late)).toBeDefined();
    expect(await store.positions.afterExpiry([5], late)).toBeDefined();
    expect(await store.positions.afterExpiry([0], late)).toBeUndefined();
    expect(await store.positions.afterExpiry('all', oldest)).toBeUndefined();
    expect(await store.positions.afterExpiry('all', newest)).toBeUndefined();
    expect(first).toBeDefined();
  });

  test('events of all days of a long retention are stored together', async () => {
    const store = await (await sharedStore(undefined, place)).open({ retentionMs: 365 * DAY });
    await store.append(canonicalBatch(Array.from({ length: 150 }, (_, day) => event(`d${day}`, NOW - day * DAY))));
    const window = { fromMs: NOW - 365 * DAY, toMs: NOW + 1 };
    expect(await store.search(rowsPlan({ window }))).toMatchObject({ total: 150 });
  });
});

test('cursors belong to a store', async () => {
  const [one, other] = [await (await sharedStore()).open(), await (await sharedStore()).open()];
  const cursor = one.positions.encode(await one.positions.newest());
  expect(cursor).toMatch(/^[A-Za-z0-9_-]{28}$/);
  expect(await one.positions.decode(cursor)).toBeTypeOf('object');
  expect(await other.positions.decode(cursor)).toBe('is a cursor of another store: it means nothing here');
  for (const wrong of [
    '',
    cursor.slice(1),
    `${cursor}A`,
    `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`,
    'AT-PVH0AAAAAAAAAAQAAAABsH-2X',
  ]) {
    expect(await one.positions.decode(wrong)).toBeTypeOf('string');
  }
});

test('what reads is asked again once where its connection ends before the answer', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const store = await shared.open();
  await store.append(canonicalBatch([event('a', NOW)]));
  await server.break({ kind: 'cut-before', matching: 'events_local" FINAL', times: 1 });
  expect((await store.search(rowsPlan())).total).toBe(1);
  const running = await server.break({ kind: 'cut-during', matching: 'events_local" FINAL', times: 1 });
  expect((await store.search(rowsPlan())).total).toBe(1);
  await server.mend(running);
  await server.break({ kind: 'cut-before', matching: 'events_local" FINAL', times: 2 });
  await expect(store.search(rowsPlan())).rejects.toMatchObject({ code: 'unavailable' });
});

test('a count of the zones that hangs is not begun again while it does', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const counting = await server.break({ kind: 'hold', at: 'before', matching: 'GROUP BY "shieldZoneId"' });
  const store = await shared.open({}, server.url, { sweepEveryMs: 1 });
  await server.held(counting);
  await store.append(canonicalBatch([event('a', NOW)]));
  expect(await server.held(counting)).toHaveLength(1);
  await server.mend(counting);
  await eventually('the next one', () => store.mostEvents('all') > 0);
});

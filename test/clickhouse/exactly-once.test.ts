import { describe, expect, test } from 'vitest';
import type { FeedPosition } from '../../store/event-store.ts';
import { type CanonicalEvent, canonicalBatch } from '../fixtures/canonical-batch.ts';
import { event, HOUR, NOW } from '../store/embedded/stored-events.ts';
import { breakableServer } from './engine.ts';
import { breakableAt, everythingIn, PLACES, readFeed, type SharedStore, sharedStore } from './shared-store.ts';

const DAY = 24 * HOUR;

/** Two zones, which the engine's cluster has on different shards. */
const ZONES = [7, 9];

/** Events of two days, two countries and two zones, newest first. */
function events(count: number, more: Partial<CanonicalEvent> = {}): CanonicalEvent[] {
  return Array.from({ length: count }, (_, index) =>
    event(`e${index}`, NOW - index * 5 * HOUR, {
      shieldZoneId: ZONES[(index >> 1) % 2] as number,
      country: index % 2 === 0 ? 'DE' : 'FR',
      log: { n: index },
      ...more,
    }),
  );
}

const EIGHT = events(8);
const ONCE = {
  total: 8,
  page: EIGHT.map(({ logId }) => logId),
  groups: [
    ['DE', 4],
    ['FR', 4],
  ],
  facet: [
    ['DE', 4],
    ['FR', 4],
  ],
  histogram: 8,
  exported: EIGHT.map(({ logId }) => logId),
  zones: ZONES.map((zone) => [zone, 4]),
};

async function expectOnce(shared: SharedStore): Promise<void> {
  const reader = await shared.open();
  for (const merge of [false, true]) {
    if (merge) await shared.merge();
    const { feed, ...all } = await everythingIn(reader);
    expect(all).toEqual(ONCE);
    expect([...feed].sort()).toEqual([...ONCE.page].sort());
  }
}

describe.each(PLACES)('on %s', (place) => {
  test('what two processes store at once is there once, before and after merges', async () => {
    const shared = await sharedStore(undefined, place);
    const [one, other] = [await shared.open(), await shared.open()];
    await Promise.all([one.append(canonicalBatch(EIGHT)), other.append(canonicalBatch(EIGHT)), one.append(canonicalBatch(EIGHT.slice(3)))]);
    await expectOnce(shared);
  });

  test('what comes again hours later is there once, with the content and the place that it had first', async () => {
    const shared = await sharedStore(undefined, place);
    const one = await shared.open();
    await one.append(canonicalBatch(EIGHT));
    const first = await readFeed(one);
    const other = await shared.open({ now: () => NOW + 5 * HOUR });
    await other.append(canonicalBatch(events(8, { log: { later: true }, country: 'IT' })));
    await expectOnce(shared);
    expect(await readFeed(other)).toEqual(first);
  });

  test('the same events cut differently are there once', async () => {
    const shared = await sharedStore(undefined, place);
    const [one, other] = [await shared.open(), await shared.open()];
    for (const [from, to] of [
      [0, 3],
      [3, 8],
    ])
      await one.append(canonicalBatch(EIGHT.slice(from, to)));
    for (const [from, to] of [
      [0, 1],
      [1, 5],
      [5, 8],
    ])
      await other.append(canonicalBatch(EIGHT.slice(from, to)));
    await expectOnce(shared);
  });

  test('events that differ in one part of their identity are several', async () => {
    const shared = await sharedStore(undefined, place);
    const store = await shared.open();
    const same = { logId: 'x', shieldZoneId: 7, timestamp: NOW };
    await store.append(canonicalBatch([same, { ...same, shieldZoneId: 8 }, { ...same, timestamp: NOW - 1 }, { ...same, logId: 'X' }]));
    expect((await everythingIn(store)).total).toBe(4);
    expect((await readFeed(store)).length).toBe(4);
  });

  describe('an insert whose answer is lost', () => {
    test('is told as a failure, and made again without a copy', async () => {
      const server = await breakableAt(place);
      const shared = await sharedStore(server.url, place);
      const store = await shared.open();
      await server.break({ kind: 'cut-after', matching: '^INSERT INTO "events', times: 1 });
      await expect(store.append(canonicalBatch(EIGHT))).rejects.toMatchObject({ code: 'unavailable' });
      await store.append(canonicalBatch(EIGHT));
      await expectOnce(shared);
    });

    test('stored one of two days, and is made again', async () => {
      const server = await breakableAt(place);
      const shared = await sharedStore(server.url, place);
      const store = await shared.open();
      const where = `intDiv("timestamp", ${DAY}) = ${Math.floor(NOW / DAY)}`;
      await server.break({
        kind: 'store-part',
        where,
        code: 210,
        name: 'NETWORK_ERROR',
        message: 'the connection broke',
        matching: '^INSERT INTO "events',
        times: 1,
      });
      await expect(store.append(canonicalBatch(EIGHT))).rejects.toThrow('the connection broke');
      const stored = (await everythingIn(await shared.open())).total;
      expect(stored).toBeGreaterThan(0);
      expect(stored).toBeLessThan(8);
      await store.append(canonicalBatch(EIGHT));
      await expectOnce(shared);
    });

    test('moves no source offset, and the next one moves it', async () => {
      const server = await breakableAt(place);
      const shared = await sharedStore(server.url, place);
      const store = await shared.open();
      const sourceOffsets = [{ topic: 't', partition: 1, nextOffset: 8n, topicId: 'abc' }];
      await server.break({ kind: 'cut-after', matching: '^INSERT INTO "events', times: 1 });
      await expect(store.append(canonicalBatch(EIGHT, { sourceOffsets }))).rejects.toMatchObject({ code: 'unavailable' });
      expect(await store.sourceOffset('t', 1)).toBeUndefined();
      await store.append(canonicalBatch(EIGHT, { sourceOffsets }));
      expect(await store.sourceOffset('t', 1)).toBe(8n);
      expect(await store.sourceTopicId('t', 1)).toBe('abc');
      await expectOnce(shared);
    });
  });
});

test('a batch that fails takes those along that wait behind it', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const store = await shared.open();
  const held = await server.break({ kind: 'hold', at: 'after', matching: '^INSERT INTO "events_local"', times: 1 });
  const first = store.append(canonicalBatch(EIGHT.slice(0, 1)));
  await server.held(held);
  const second = store.append(canonicalBatch(EIGHT.slice(1), { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 9n }] }));
  const outcomes = Promise.allSettled([first, second]);
  // The connection of the first insert breaks, and the server is there again at once.
  await server.goAway();
  await server.comeBack();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await store.sourceOffset('t', 0)).toBeUndefined();
  await store.append(canonicalBatch(EIGHT));
  await expectOnce(shared);
});

test('a source offset may go back, where a topic is made anew', async () => {
  const shared = await sharedStore();
  const [one, other] = [await shared.open(), await shared.open()];
  await one.append(canonicalBatch([], { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 100n, topicId: 'old' }] }));
  await other.append(canonicalBatch([], { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 3n, topicId: 'new' }] }));
  await other.append(canonicalBatch([], { sourceOffsets: [{ topic: 't', partition: 1, nextOffset: 5n }] }));
  await shared.run('OPTIMIZE TABLE source_offsets FINAL');
  expect([await one.sourceOffset('t', 0), await one.sourceTopicId('t', 0)]).toEqual([3n, 'new']);
  expect([await one.sourceOffset('t', 1), await one.sourceTopicId('t', 1)]).toEqual([5n, undefined]);
  expect(await one.sourceOffset('u', 0)).toBeUndefined();
});

test('a batch of dead letters only is stored, and none of an empty one', async () => {
  const shared = await sharedStore();
  const store = await shared.open();
  const origin = { source: 'kafka', topic: 't', partition: 0, zoneId: null, cut: null, reason: 'no JSON' };
  const deadLetters = [{ ...origin, bytes: Buffer.from('{'), offset: 5n }];
  const receipt = await store.append(canonicalBatch([], { deadLetters, sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 6n }] }));
  expect(receipt).toMatchObject({ eventCount: 0, duplicates: null, deadLettersNotKept: [] });
  await store.append(canonicalBatch([]));
  expect((await store.listDeadLetters({ zones: 'all', limit: 10 })).map(({ offset }) => offset)).toEqual([5n]);
  expect(await store.sourceOffset('t', 0)).toBe(6n);
});

describe.each(PLACES)('a reader on %s', (place) => {
  test('of the feed gets an event of a slow insert after those that were stored meanwhile, and misses none', async () => {
    const slow = await breakableAt(place);
    const shared = await sharedStore(undefined, place);
    const [late, early] = [await shared.open({}, slow.url), await shared.open({}, slow.url)];
    const fault = await slow.break({ kind: 'hold', at: 'inside', matching: '^INSERT INTO "events', times: 1 });
    const lateAppend = late.append(canonicalBatch([event('late', NOW)]));
    await slow.held(fault);
    await early.append(canonicalBatch([event('early', NOW)]));
    const before = await early.readFeed({ zones: 'all', after: await early.positions.oldest(), limit: 10 });
    expect(before.lines).toEqual([]);
    expect((await everythingIn(early)).page).toEqual(['early']);
    await slow.mend(fault);
    await lateAppend;
    const after = await readFeed(early, before.end as FeedPosition);
    expect(after.map(({ logId }) => logId).sort()).toEqual(['early', 'late']);
  });

  test('of several statements sees nothing of an insert that ends between them', async () => {
    const slow = await breakableAt(place);
    const shared = await sharedStore(undefined, place);
    const [writer, reader] = [await shared.open({}, slow.url), await shared.open({}, slow.url)];
    await writer.append(canonicalBatch([event('a', NOW, { country: 'DE' })]));
    const writing = await slow.break({ kind: 'hold', at: 'inside', matching: '^INSERT INTO "events', times: 1 });
    const append = writer.append(canonicalBatch([event('b', NOW, { country: 'DE' })]));
    await slow.held(writing);
    // As where there are many groups, whose facts are worked out by a statement of their own.
    const many = { code: 158, name: 'TOO_MANY_ROWS', message: 'Limit for rows to GROUP BY exceeded' };
    await slow.break({ kind: 'refuse', ...many, matching: 'sumMap|groupUniq', times: 1 });
    const reading = await slow.break({ kind: 'hold', at: 'before', matching: 'sumMap|groupUniq', times: 1 });
    const groups = reader.search({
      zones: 'all',
      window: { fromMs: 0, toMs: NOW + 1 },
      where: { kind: 'everything' },
      page: { index: 0, size: 10 },
      output: { kind: 'groups', by: ['country'], buckets: 0 },
    });
    await slow.held(reading);
    await slow.mend(writing);
    await append;
    await slow.mend(reading);
    expect(await groups).toMatchObject({ total: 1, groups: [{ count: 1, context: { blocked: 0 } }] });
    expect((await everythingIn(reader)).groups).toEqual([['DE', 2]]);
  });
});

test('a listener hears of what another process stores', async () => {
  const shared = await sharedStore();
  const [one, other] = [await shared.open(), await shared.open()];
  const calls: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
  const waiting = [...calls];
  const end = one.onEvents(() => waiting.shift()?.resolve());
  // The first look tells of what may have come before it.
  await calls[0]?.promise;
  await other.append(canonicalBatch(EIGHT));
  await calls[1]?.promise;
  end();
});

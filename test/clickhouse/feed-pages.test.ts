import { expect, test } from 'vitest';
import type { ClickhouseStore } from '../../store/clickhouse/clickhouse-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { NOW } from '../fixtures/present.ts';
import { event, HOUR } from '../store/embedded/stored-events.ts';
import { breakableServer } from './engine.ts';
import { sharedStore } from './shared-store.ts';

/** More than fit into one excerpt. */
const MANY = 60_000;
const PAGE_BYTES = 4 * 1024 * 1024;
const LINES = 'FINAL\\s+PREWHERE';

/** Events of a hundred zones and two days, stored in three inserts. */
const MANY_EVENTS = Array.from({ length: MANY }, (_, index) =>
  event(`e${String(index).padStart(6, '0')}`, NOW - (index % 48) * HOUR, { shieldZoneId: 1 + (index % 100) }),
);

const LONG_LOG = { text: 'x'.repeat(100_000) };

interface ReadPages {
  readonly ids: readonly string[];
  /** The events and bytes of each page. */
  readonly pages: readonly { readonly events: number; readonly bytes: number }[];
}

/** Reads pages until there are `count` events, or no more. */
async function readPages(store: ClickhouseStore, limit: number, count = Number.POSITIVE_INFINITY): Promise<ReadPages> {
  const ids: string[] = [];
  const pages: { events: number; bytes: number }[] = [];
  let after = await store.positions.oldest();
  for (let more = true; more && ids.length < count; ) {
    const page = await store.readFeed({ zones: 'all', after, limit });
    const lines = page.lines.map(({ bytes, start, end }) => bytes.toString('utf8', start, end));
    ids.push(...lines.map((line) => JSON.parse(line).logId));
    pages.push({ events: lines.length, bytes: lines.reduce((sum, line) => sum + line.length, 0) });
    after = page.end;
    more = page.more;
  }
  return { ids, pages };
}

test('pages of any size give each of many events once and in the same order, also to several readers', async () => {
  const shared = await sharedStore();
  const store = await shared.open();
  for (let begin = 0; begin < MANY; begin += 20_000) {
    await store.append(canonicalBatch(MANY_EVENTS.slice(begin, begin + 20_000)));
  }
  const [whole, ...parts] = await Promise.all([
    readPages(store, 100_000),
    readPages(store, 7_000),
    readPages(store, 1_000, 10_000),
    readPages(store, 37, 1_000),
    readPages(store, 1, 10),
  ]);
  expect(whole.ids.toSorted()).toEqual(MANY_EVENTS.map(({ logId }) => logId));
  for (const { ids } of parts) {
    expect(ids).toEqual(whole.ids.slice(0, ids.length));
  }
  expect(parts.map(({ pages }) => Math.max(...pages.map(({ events }) => events)))).toEqual([7_000, 1_000, 37, 1]);
  expect(parts.map(({ ids }) => ids.length)).toEqual([MANY, 10_000, 1_036, 10]);
  const ofSome = await store.readFeed({ zones: [7, 100, 7], after: await store.positions.oldest(), limit: 100_000 });
  expect([ofSome.lines.length, ofSome.more]).toEqual([MANY / 50, false]);
});

test.each([64, 1_024])('pages of long events end before they have more than they may, with %i MiB', async (memoryLimitMb) => {
  const shared = await sharedStore();
  const store = await shared.open({ memoryLimitMb });
  const long = Array.from({ length: 250 }, (_, index) => event(`long-${index}`, NOW, { log: LONG_LOG }));
  await store.append(canonicalBatch(long));
  const { ids, pages } = await readPages(store, 100_000);
  expect(new Set(ids).size).toBe(long.length);
  expect(ids.length).toBe(long.length);
  expect(pages.filter(({ bytes }) => bytes > PAGE_BYTES)).toEqual([]);
  expect(pages.length).toBeLessThan(20);
});

test('events of one sequence, as two processes of one number may give, are on one page', async () => {
  const shared = await sharedStore();
  const store = await shared.open();
  await store.append(canonicalBatch(MANY_EVENTS.slice(0, 10_000)));
  const [[least]] = (await shared.rows('SELECT min(seq) FROM events_local')) as [[string]];
  const same = 'shieldZoneId + 1000 AS shieldZoneId';
  await shared.run(`INSERT INTO events_local SELECT * REPLACE (${same}) FROM events_local WHERE seq < ${least} + 20 * 4096000`);
  const { ids, pages } = await readPages(store, 1, 10);
  expect(pages.map(({ events }) => events)).toEqual([2, 2, 2, 2, 2]);
  expect(ids).toEqual([0, 1, 2, 3, 4].flatMap((nth) => [MANY_EVENTS[nth]?.logId, MANY_EVENTS[nth]?.logId]));
});

test('where the server has no memory for so many events at once, fewer are read', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const store = await shared.open();
  await store.append(canonicalBatch(MANY_EVENTS.slice(0, 10_000)));
  const fault = { kind: 'refuse', code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'Memory limit exceeded', matching: LINES } as const;
  await server.break({ ...fault, times: 3 });
  const { ids } = await readPages(store, 100_000);
  expect(ids).toEqual(MANY_EVENTS.slice(0, 10_000).map(({ logId }) => logId));
  await server.break(fault);
  await expect(readPages(store, 100_000)).rejects.toMatchObject({ code: 'overloaded' });
});

test('a reader whose time is up does not wait for the events of an excerpt, which others get', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const store = await shared.open();
  await store.append(canonicalBatch(MANY_EVENTS.slice(0, 10_000)));
  const held = await server.break({ kind: 'hold', at: 'before', matching: LINES, times: 1 });
  const hangUp = new AbortController();
  const request = { zones: 'all', after: await store.positions.oldest(), limit: 1_000 } as const;
  const [gone, patient] = [store.readFeed(request, { signal: hangUp.signal }), store.readFeed(request)];
  gone.catch(() => {});
  await server.held(held);
  hangUp.abort(new Error('hung up'));
  await expect(gone).rejects.toThrow('hung up');
  await server.mend(held);
  expect((await patient).lines.length).toBe(1_000);
});

test('a store that is closed ends the excerpt that is being made', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const store = await shared.open();
  await store.append(canonicalBatch(MANY_EVENTS.slice(0, 10_000)));
  const held = await server.break({ kind: 'hold', at: 'before', matching: LINES, times: 1 });
  const reading = readPages(store, 100_000);
  reading.catch(() => {});
  await server.held(held);
  await store.close();
  await expect(reading).rejects.toMatchObject({ code: 'closed' });
});

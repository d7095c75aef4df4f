import { describe, expect, test } from 'vitest';
import type { FeedPosition, StoreLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { event } from '../../store/embedded/stored-events.ts';
import { breakableCluster } from '../cluster/nodes.ts';
import { answerOf, breakableServer } from '../engine.ts';
import { everythingIn, readFeed, sharedStore } from '../shared-store.ts';

/** Two servers with the same data, and a database of both. */
async function twoServers() {
  const [first, second] = [await breakableServer(), await breakableServer()];
  return { first, second, both: `${first.url},${second.url}`, shared: await sharedStore() };
}

/** The lines of a log. */
function told(): { readonly lines: string[]; readonly logger: StoreLogger } {
  const lines: string[] = [];
  const tell = (_details: object, message: string): void => {
    lines.push(message);
  };
  return { lines, logger: { info: tell, warn: tell, error: tell } };
}

const one = (logId: string) => canonicalBatch([event(logId, NOW)]);

const ids = (events: readonly { readonly logId: string }[]) => events.map(({ logId }) => logId);

describe('of several servers', () => {
  test('the next one is asked where one goes away, between the statements and in the middle of them', async () => {
    const { first, second, both, shared } = await twoServers();
    const { lines, logger } = told();
    const store = await shared.open({ logger }, both);
    await store.append(one('a'));
    const feed = await store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 10 });
    const inserting = await first.break({ kind: 'hold', at: 'after', matching: '^INSERT INTO "events_local"', times: 1 });
    const append = store.append(one('b'));
    await first.held(inserting);
    const searching = await first.break({ kind: 'hold', at: 'before', matching: '^SELECT.*FROM "?events_local', times: 1 });
    const search = everythingIn(store);
    await first.held(searching);
    await first.goAway();
    await append;
    // The search began before the second event was acknowledged, which may have been under way on the other server.
    expect([1, 2]).toContain((await search).total);
    expect(ids(await readFeed(store, feed.end as FeedPosition))).toEqual(['b']);
    await store.append(one('c'));
    expect(lines).toEqual(['another server of CLICKHOUSE_URL is asked from now on']);
    await first.comeBack();
    await second.goAway();
    await store.append(one('d'));
    expect(ids(await readFeed(store, feed.end as FeedPosition))).toEqual(['b', 'c', 'd']);
    expect(await everythingIn(store)).toMatchObject({ total: 4 });
    expect(lines.length).toBe(2);
  });

  test('one that cannot write is left for another', async () => {
    const { first, both, shared } = await twoServers();
    const store = await shared.open({}, both);
    await first.break({ kind: 'refuse', code: 242, name: 'TABLE_IS_READ_ONLY', message: 'Table is in readonly mode', matching: '^INSERT' });
    await store.append(one('a'));
    expect(ids(await readFeed(store))).toEqual(['a']);
  });

  test('a replica has caught up before it answers readers, and takes inserts at once', async () => {
    const { first, second, both, shared } = await twoServers();
    const store = await shared.open({}, both);
    await store.append(one('a'));
    const [[version, number] = []] = await shared.rows(
      "SELECT version(), comment FROM system.tables WHERE name = 'store_identity' AND database = currentDatabase()",
    );
    const replicated = answerOf(['String', 'String', 'Array(String)'], [[version, number, ['events_local']]]);
    await second.break({ kind: 'answer', text: replicated, matching: "engine LIKE 'Replicated%'" });
    const late = {
      kind: 'refuse',
      code: 159,
      name: 'TIMEOUT_EXCEEDED',
      message: 'SYNC REPLICA: timeout',
      matching: '^SYSTEM SYNC',
    } as const;
    const behind = await second.break(late);
    await first.goAway();
    await store.append(one('b'));
    await expect(readFeed(store)).rejects.toMatchObject({ code: 'overloaded' });
    await expect(everythingIn(store)).rejects.toMatchObject({ code: 'overloaded' });
    await second.mend(behind);
    await second.break({ kind: 'answer', text: '', matching: '^SYSTEM SYNC REPLICA `events_local` LIGHTWEIGHT' });
    expect(ids(await readFeed(store))).toEqual(['a', 'b']);
    expect((await everythingIn(store)).total).toBe(2);
  });
});

test('a clock has not stepped back where looks come in out of turn', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const { lines, logger } = told();
  const store = await shared.open({ logger });
  const slow = await server.break({ kind: 'hold', at: 'after', matching: 'system.processes', times: 1 });
  const earlier = readFeed(store);
  await server.held(slow);
  await readFeed(store);
  await server.mend(slow);
  await earlier;
  expect(lines).toEqual([]);
});

describe('of a cluster', () => {
  async function cluster() {
    const { nodes, url } = await breakableCluster();
    const [first, second] = nodes;
    const shared = await sharedStore(url, 'a cluster', url);
    const { lines, logger } = told();
    const store = await shared.open({ logger }, first.url);
    const other = await shared.open({}, second.url);
    return { first, second, store, other, lines };
  }

  test('an insert that another node runs holds the feed back, and no search', async () => {
    const { second, store, other } = await cluster();
    const slow = await second.break({ kind: 'hold', at: 'inside', matching: '^INSERT INTO "events"', times: 1 });
    const late = other.append(one('late'));
    await second.held(slow);
    await store.append(one('early'));
    const before = await store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 10 });
    expect(before.lines).toEqual([]);
    expect((await everythingIn(store)).groups).toEqual([['', 1]]);
    await second.mend(slow);
    await late;
    expect(ids(await readFeed(store, before.end)).sort()).toEqual(['early', 'late']);
  });

  test('a node whose clock is behind holds the feed back, which is told from a second on, and nothing is lost or twice', async () => {
    const { second, store, other, lines } = await cluster();
    await second.moveClock(-5_000);
    await store.append(one('a'));
    await other.append(one('b'));
    const start = await store.positions.oldest();
    const page = await store.readFeed({ zones: 'all', after: start, limit: 10 });
    expect(page.lines.length).toBe(1);
    expect((await store.stats()).clockBehindMs).toBeGreaterThan(4_000);
    expect((await everythingIn(store)).total).toBe(2);
    await second.moveClock(0);
    expect(ids(await readFeed(store, page.end))).toEqual(['a']);
    // Of a look that takes long the nodes tell times that differ by so much more.
    await expect.poll(() => store.stats()).toMatchObject({ clockBehindMs: 0, lateEvents: 0 });
    await second.moveClock(-500);
    await expect.poll(() => store.stats()).toMatchObject({ clockBehindMs: 0 });
    expect(lines.filter((line) => line.includes('CLUSTER'))).toEqual([]);
  });

  test('a node that is away holds the feed back, and no search and no insert', async () => {
    const { second, store, lines } = await cluster();
    await store.append(one('a'));
    expect(ids(await readFeed(store))).toEqual(['a']);
    await second.goAway();
    await store.append(one('b'));
    expect((await everythingIn(store)).groups).toEqual([['', 2]]);
    expect(ids(await readFeed(store))).toEqual(['a']);
    await second.comeBack();
    expect(ids(await readFeed(store))).toEqual(['a', 'b']);
    expect(lines).toEqual([
      'a node of CLICKHOUSE_CLUSTER cannot be asked: the feed waits for it',
      'all nodes of CLICKHOUSE_CLUSTER can be asked again',
    ]);
  });
});

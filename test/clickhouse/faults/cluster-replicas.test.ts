import { describe, expect, test } from 'vitest';
import type { CheckLine, EventStore } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { event, HOUR, rowsPlan } from '../../store/embedded/stored-events.ts';
import { CLUSTER } from '../cluster/cluster-config.ts';
import { breakableCluster, breakableNode } from '../cluster/nodes.ts';
import { answerOf, type BreakableServer, quietClient } from '../engine.ts';
import { everythingIn, readFeed, sharedStore } from '../shared-store.ts';

const one = (logId: string) => canonicalBatch([event(logId, NOW)]);

const ids = (events: readonly { readonly logId: string }[]) => events.map(({ logId }) => logId);

const SYNC = '^SYSTEM SYNC REPLICA ON CLUSTER';
const late = { kind: 'refuse', code: 159, name: 'TIMEOUT_EXCEEDED', message: 'SYNC REPLICA: timeout', matching: SYNC } as const;

async function twoNodes() {
  const { nodes, url } = await breakableCluster();
  const [first, second] = nodes;
  const shared = await sharedStore(first.url, 'a cluster', url);
  return { first, second, shared, store: await shared.open() };
}

/** What the second node would tell of itself. */
interface ToldLook {
  /** The seconds for which it runs; less than none is a start in the future. */
  readonly uptime?: number;
  /** The time of the store that the insert which it runs is not before, as it stands in the comment; none: it runs no insert. */
  readonly insert?: string;
}

/** Has the server answer the next look at the nodes. */
async function tell(server: BreakableServer, database: string, { uptime = 1e6, insert }: ToldLook): Promise<void> {
  // A time that is not behind what the program was told before, however long the look takes.
  const clock = String((Date.now() + 60_000) * 1000);
  const data = [
    [clock, '0', '0', [], 1e6],
    [clock, '0', '0', insert === undefined ? [] : [`shieldlog events "${database}" 5000${insert}`], uptime],
  ];
  await server.break({
    kind: 'answer',
    text: answerOf(['Int64', 'Int64', 'Int64', 'Array(String)', 'UInt32'], data),
    matching: 'uptime',
    times: 1,
  });
}

describe('the feed waits until every replica has what the others had', () => {
  test('at the start', async () => {
    const { first, store } = await twoNodes();
    const behind = await first.break(late);
    await store.append(one('a'));
    await expect(readFeed(store)).rejects.toMatchObject({ code: 'overloaded' });
    expect(await store.search(rowsPlan())).toMatchObject({ total: 1 });
    await first.mend(behind);
    expect(ids(await readFeed(store))).toEqual(['a']);
  });

  test('after a node was away, and not otherwise', async () => {
    const { first, second, store } = await twoNodes();
    await store.append(one('a'));
    expect(ids(await readFeed(store))).toEqual(['a']);
    const behind = await first.break(late);
    await store.append(one('b'));
    expect(ids(await readFeed(store))).toEqual(['a', 'b']);
    await second.goAway();
    await store.append(one('c'));
    expect(ids(await readFeed(store))).toEqual(['a', 'b']);
    await second.comeBack();
    await expect(readFeed(store)).rejects.toMatchObject({ code: 'overloaded' });
    await first.mend(behind);
    expect(ids(await readFeed(store))).toEqual(['a', 'b', 'c']);
  });

  test('after a node has started anew while nobody looked', async () => {
    const { first, shared, store } = await twoNodes();
    await store.append(one('a'));
    expect(ids(await readFeed(store))).toEqual(['a']);
    const behind = await first.break(late);
    await tell(first, shared.address.database, { uptime: -3_600 });
    await expect(readFeed(store)).rejects.toMatchObject({ code: 'overloaded' });
    await first.mend(behind);
    expect(ids(await readFeed(store))).toEqual(['a']);
  });
});

test('a step back of all clocks hides nothing from a program that starts after it, where nobody had read', async () => {
  const { first, second, shared, store } = await twoNodes();
  await store.append(one('a'));
  await store.close();
  for (const node of [first, second]) await node.moveClock(-600_000);
  const after = await shared.open();
  expect(ids(await readFeed(after))).toEqual(['a']);
  expect((await everythingIn(after)).total).toBe(1);
});

describe('an insert that a node runs', () => {
  test.each([
    ['holds the feed back to the time that it is not before', () => ` ${(Date.now() + 30_000) * 1000}`, ['b']],
    ['holds the feed where it is if that was before', () => ` ${(Date.now() - 30_000) * 1000}`, []],
    ['holds the feed where it is if it is one of an earlier program, which does not say its time', () => '', []],
  ])('%s', async (_, insert, expected) => {
    const { first, shared, store } = await twoNodes();
    await store.append(one('a'));
    const { end } = await store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 10 });
    await store.append(one('b'));
    await tell(first, shared.address.database, { insert: insert() });
    const page = await store.readFeed({ zones: 'all', after: end, limit: 10 });
    expect(ids(await readFeed(store))).toEqual(['a', 'b']);
    expect(page.lines.map(({ bytes, start, end: to }) => JSON.parse(bytes.toString('utf8', start, to)).logId)).toEqual(expected);
  });
});

test('an insert keeps to the first replicas, and is acknowledged when its shards have it', async () => {
  const server = await breakableNode();
  const shared = await sharedStore(server.url, 'a cluster');
  const store = await shared.open({ insertQuorum: 'auto' });
  const held = await server.break({ kind: 'hold', at: 'inside', matching: '^INSERT INTO "events"', times: 1 });
  const append = store.append(one('a'));
  await server.held(held);
  const client = quietClient({ url: server.url });
  const names = ['insert_quorum', 'distributed_foreground_insert', 'load_balancing', 'distributed_product_mode'];
  const query = `SELECT ${names.map((name) => `Settings['${name}'] AS ${name}`)} FROM system.processes
    WHERE query_kind = 'Insert' AND current_database = '${shared.address.database}'`;
  const [sent] = await (await client.query({ query, format: 'JSONEachRow' })).json();
  await client.close();
  expect(sent).toEqual({
    insert_quorum: 'auto',
    distributed_foreground_insert: '1',
    load_balancing: 'in_order',
    distributed_product_mode: 'local',
  });
  await server.mend(held);
  await append;
});

test('a shard without a replica fails what needs it, and nothing else', async () => {
  const server = await breakableNode();
  const shared = await sharedStore(server.url, 'a cluster');
  const store = await shared.open();
  await store.append(one('a'));
  const away = { kind: 'refuse', code: 279, name: 'ALL_CONNECTION_TRIES_FAILED', message: 'All connection tries failed' } as const;
  const fault = await server.break({ ...away, matching: '"events"' });
  await expect(store.search(rowsPlan())).rejects.toMatchObject({ code: 'unavailable' });
  await expect(store.append(one('b'))).rejects.toMatchObject({ code: 'unavailable' });
  expect(await store.listDeadLetters({ zones: 'all', limit: 1 })).toEqual([]);
  await server.mend(fault);
  await store.append(one('b'));
  expect(await store.search(rowsPlan())).toMatchObject({ total: 2 });
});

test('a sweep drops days once every node has what tells readers of them', async () => {
  const server = await breakableNode();
  const shared = await sharedStore(server.url, 'a cluster');
  const store = await shared.open();
  const late72 = await store.positions.oldest();
  await store.append(canonicalBatch([event('old', NOW - 120 * HOUR, { shieldZoneId: 9 }), event('new', NOW)]));
  const behind = await server.break({ ...late, matching: 'SYNC REPLICA .*expired_watermarks' });
  await expect(store.dropExpiredNow()).rejects.toMatchObject({ code: 'overloaded' });
  expect(ids(await readFeed(store)).sort()).toEqual(['new', 'old']);
  await server.mend(behind);
  await store.dropExpiredNow();
  expect(ids(await readFeed(store))).toEqual(['new']);
  expect(await store.positions.afterExpiry([9], late72)).toBeDefined();
  expect(await store.positions.afterExpiry([7], late72)).toBeUndefined();
});

describe('a check', () => {
  async function checked(store: EventStore): Promise<readonly CheckLine[]> {
    const lines: CheckLine[] = [];
    for await (const line of store.check()) lines.push(line);
    return lines;
  }

  /** Servers that are each of one shard. */
  async function twoShards() {
    const servers = [await breakableNode(1), await breakableNode(2)] as const;
    // All names of the nodes are those of relays, so that no node knows one for its own.
    for (const [index, server] of servers.entries()) {
      const data = [1, 2].map((shard) => [shard, shard === index + 1 ? 1 : 0]);
      await server.break({ kind: 'answer', text: answerOf(['UInt32', 'UInt8'], data), matching: 'max\\(is_local\\)' });
    }
    return { servers, shared: await sharedStore(servers[0].url, 'a cluster') };
  }

  test('has each server of CLICKHOUSE_URL compare its parts', async () => {
    const { servers, shared } = await twoShards();
    const store = await shared.open({}, servers.map(({ url }) => url).join());
    await store.append(canonicalBatch([event('a', NOW), event('b', NOW, { shieldZoneId: 9 })]));
    expect(await checked(store)).toEqual([{ kind: 'summary', folder: 'events_local', files: 2, bytes: 0, events: 0, faults: 0 }]);
    const damaged = answerOf(['String', 'UInt8', 'String'], [['20260101_1_1_0', 0, 'Checksum mismatch']]);
    await servers[1].break({ kind: 'answer', text: damaged, matching: '^CHECK TABLE' });
    const file = `${new URL(servers[1].url).host}/events_local/20260101_1_1_0`;
    expect((await checked(store))[0]).toEqual({ kind: 'fault', file, fault: 'Checksum mismatch', events: null });
  });

  test('tells of a shard that no server of CLICKHOUSE_URL is of', async () => {
    const { servers, shared } = await twoShards();
    const store = await shared.open({}, servers[0].url);
    const [line, summary] = await checked(store);
    const fault = `no server of CLICKHOUSE_URL is of shard 2 of CLICKHOUSE_CLUSTER=${CLUSTER}, which is not checked`;
    expect(line).toEqual({ kind: 'fault', file: 'events_local', fault, events: null });
    expect(summary).toMatchObject({ kind: 'summary', faults: 1 });
  });
});

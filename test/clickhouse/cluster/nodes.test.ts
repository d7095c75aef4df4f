import type { ClickHouseClient } from '@clickhouse/client';
import { expect, onTestFinished, test } from 'vitest';
import { syncReplicasStatement, tableEngine } from '../../../sql/clickhouse/cluster.ts';
import { CLUSTER_SETTINGS } from '../../../store/clickhouse/server/settings.ts';
import { type BreakableServer, freshDatabase, quietClient } from '../engine.ts';
import { CLUSTER } from './cluster-config.ts';
import { breakableCluster } from './nodes.ts';

interface Asked {
  readonly nodes: readonly [BreakableServer, BreakableServer];
  readonly clients: readonly [ClickHouseClient, ClickHouseClient];
  readonly database: string;
}

/** A cluster with clients of its nodes, in a database that all of them have. */
async function askedCluster(): Promise<Asked> {
  const { nodes, url } = await breakableCluster();
  const { name, drop } = await freshDatabase(url, url, CLUSTER);
  onTestFinished(drop);
  const clientOf = ({ url }: BreakableServer): ClickHouseClient => {
    const client = quietClient({ url, database: name, clickhouse_settings: { ...CLUSTER_SETTINGS } });
    onTestFinished(() => client.close());
    return client;
  };
  return { nodes, clients: [clientOf(nodes[0]), clientOf(nodes[1])], database: name };
}

async function rows(client: ClickHouseClient, query: string, settings = {}): Promise<unknown[]> {
  return (await (await client.query({ query, format: 'JSONCompact', clickhouse_settings: settings })).json<unknown[]>()).data;
}

const TABLES = 'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name';
const newTable = (name: string): string => `CREATE TABLE ${name} ON CLUSTER '${CLUSTER}' (zone Int64) ENGINE = MergeTree ORDER BY zone`;

test('the nodes know the shards of the profile, each by two names, and their own places', async () => {
  const { clients } = await askedCluster();
  for (const [index, client] of clients.entries()) {
    const known = `SELECT shard_num, replica_num FROM system.clusters WHERE cluster = '${CLUSTER}' ORDER BY ALL`;
    expect(await rows(client, known)).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ]);
    expect(await rows(client, "SELECT getMacro('shard'), getMacro('replica')")).toEqual([[`${index + 1}`, '1']]);
  }
});

test('every node runs what is ON CLUSTER, and the first one that refuses it answers', async () => {
  const { clients } = await askedCluster();
  await clients[1].command({ query: newTable('t') });
  expect(await Promise.all(clients.map((client) => rows(client, TABLES)))).toEqual([[['t']], [['t']]]);
  await clients[1].command({ query: 'CREATE TABLE u (zone Int64) ENGINE = Memory' });
  await expect(clients[0].command({ query: newTable('u') })).rejects.toMatchObject({ code: '57' });
});

test('a node that is away runs it when it is back, and until then it fails for whoever waits for all', async () => {
  const { nodes, clients, database } = await askedCluster();
  await nodes[1].goAway();
  await expect(clients[0].command({ query: newTable('t') })).rejects.toMatchObject({ code: '159' });
  const sync = syncReplicasStatement('t', { name: CLUSTER, database }).text;
  await expect(clients[0].command({ query: sync })).rejects.toMatchObject({ code: '159' });
  const withoutLate = { distributed_ddl_output_mode: 'null_status_on_timeout' } as const;
  await clients[0].command({ query: newTable('u'), clickhouse_settings: withoutLate });
  await clients[0].command({ query: sync, clickhouse_settings: withoutLate });
  expect(await rows(clients[0], TABLES)).toEqual([['t'], ['u']]);
  await nodes[1].comeBack();
  expect(await rows(clients[1], TABLES)).toEqual([['t'], ['u']]);
  await clients[0].command({ query: sync });
});

test('a node that is away is left for its second name by inserts and reads, and cannot be asked with all', async () => {
  const { nodes, clients, database } = await askedCluster();
  await clients[0].command({ query: newTable('t') });
  const spread = `CREATE TABLE s ON CLUSTER '${CLUSTER}' AS t ENGINE = Distributed('${CLUSTER}', '${database}', 't', intHash64(zone))`;
  await clients[0].command({ query: spread });
  await nodes[1].goAway();
  await clients[0].command({ query: 'INSERT INTO s SELECT number FROM numbers(100)' });
  expect(await rows(clients[0], 'SELECT uniqExact(_shard_num), toInt32(count()) FROM s')).toEqual([[2, 100]]);
  const all = `SELECT uniqExact(shard) FROM clusterAllReplicas('${CLUSTER}', view(SELECT getMacro('shard') AS shard))`;
  await expect(rows(clients[0], all)).rejects.toMatchObject({ code: '279' });
  expect(await rows(clients[0], all, { skip_unavailable_shards: 1 })).toEqual([[2]]);
  await nodes[1].comeBack();
  expect(await rows(clients[1], 'SELECT count() > 0 FROM t')).toEqual([[1]]);
});

test('a table of which every node has all rows is one for all of them, also while the first node is away', async () => {
  const { nodes, clients, database } = await askedCluster();
  const engine = tableEngine('t', { name: CLUSTER, database }, 'nodes');
  await clients[0].command({ query: `CREATE TABLE IF NOT EXISTS t ON CLUSTER '${CLUSTER}' (zone Int64) ENGINE = ${engine} ORDER BY zone` });
  await clients[0].command({ query: 'INSERT INTO t VALUES (1)' });
  await clients[1].command({ query: 'INSERT INTO t VALUES (2)' });
  await nodes[0].goAway();
  await clients[1].command({ query: 'INSERT INTO t SELECT zone + 2 FROM t' });
  await nodes[0].comeBack();
  for (const client of clients) expect(await rows(client, 'SELECT toInt32(zone) FROM t ORDER BY 1')).toEqual([[1], [2], [3], [4]]);
});

test('each node has a clock of its own, whichever of them is asked for it', async () => {
  const { nodes, clients } = await askedCluster();
  const minutes = "round(dateDiff('second', now64(3), now64(6)) / 60)";
  await nodes[0].moveClock(-120_000);
  await nodes[1].moveClock(600_000);
  await nodes[1].moveClock(300_000);
  expect(await Promise.all(clients.map((client) => rows(client, `SELECT ${minutes}`)))).toEqual([[[-2]], [[5]]]);
  const all = `SELECT DISTINCT ahead FROM clusterAllReplicas('${CLUSTER}', view(SELECT ${minutes} AS ahead)) ORDER BY ahead`;
  for (const client of clients) expect(await rows(client, all)).toEqual([[-2], [5]]);
});

test('a statement has the same user on every node', async () => {
  const { clients } = await askedCluster();
  const users = `SELECT DISTINCT user FROM clusterAllReplicas('${CLUSTER}', view(SELECT currentUser() AS user))`;
  expect(await rows(clients[1], users)).toEqual([['default']]);
});

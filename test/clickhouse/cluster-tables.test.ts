import { describe, expect, onTestFinished, test } from 'vitest';
import { migrateSchema, SCHEMA_VERSION } from '../../store/clickhouse/schema.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import type { ClickhouseAddress } from '../../store/clickhouse/server/connection.ts';
import { runHere } from '../src/cli/command-run.ts';
import { CLUSTER, FIRST_NODE } from './cluster/cluster-config.ts';
import { breakableNode } from './cluster/nodes.ts';
import { answerOf, clusterUrl, quietClient, testDatabase } from './engine.ts';

async function addressOf(url = clusterUrl()): Promise<ClickhouseAddress> {
  const { name } = await testDatabase(url, clusterUrl(), CLUSTER);
  return { urls: [url], user: 'default', password: '', database: name };
}

async function rowsOf(address: ClickhouseAddress, text: string): Promise<readonly (readonly unknown[])[]> {
  const client = new ClickhouseClient({ ...address, urls: [clusterUrl()] });
  onTestFinished(() => client.close());
  return (await client.read({ text, params: [] })).rows;
}

const onCluster = { cluster: CLUSTER };

const EVERY_NODE = [
  'expired_watermarks',
  'letters',
  'removed_letters',
  'schema_versions',
  'source_offsets',
  'store_clock',
  'store_settings',
];

describe('a migration of a cluster', () => {
  test('makes the tables on every node, and a second one has nothing to do', async () => {
    const address = await addressOf();
    const { from, to, statements } = await migrateSchema(address, onCluster);
    expect([from, to]).toEqual([0, SCHEMA_VERSION]);
    const made = statements.filter((one) => /^CREATE/.test(one));
    expect(made.every((one) => one.includes(` ON CLUSTER '${CLUSTER}' `))).toBe(true);
    const tables = await rowsOf(address, 'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name');
    expect(tables.flat()).toEqual([...EVERY_NODE, 'events', 'events_local', 'store_identity'].sort());
    expect(await migrateSchema(address, onCluster)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION, statements: [] });
  });

  test('makes what a node lacks, with the number that the store has', async () => {
    const address = await addressOf();
    await migrateSchema(address, onCluster);
    const client = new ClickhouseClient(address);
    onTestFinished(() => client.close());
    const storeId = await client.storeId();
    await client.run({ text: 'DROP TABLE letters', params: [] });
    const { from, to, statements } = await migrateSchema(address, { ...onCluster, isDryRun: true });
    expect([from, to, statements.length > 0]).toEqual([SCHEMA_VERSION, SCHEMA_VERSION, true]);
    await migrateSchema(address, onCluster);
    expect(await rowsOf(address, 'SELECT count() FROM letters')).toEqual([['0']]);
    expect(await client.storeId()).toBe(storeId);
    expect(statements.filter((one) => one.includes(`COMMENT '${storeId}'`))).toHaveLength(1);
  });

  test('gives the letters of every node the column for their mapping, where they are those of an earlier version', async () => {
    const address = await addressOf();
    await migrateSchema(address, onCluster);
    const client = new ClickhouseClient(address);
    onTestFinished(() => client.close());
    for (const text of [
      `ALTER TABLE letters ON CLUSTER '${CLUSTER}' DROP COLUMN mapping`,
      `TRUNCATE TABLE schema_versions ON CLUSTER '${CLUSTER}'`,
      'INSERT INTO schema_versions VALUES (5, 0)',
    ]) {
      await client.run({ text, params: [] });
    }
    const columns = `SELECT groupArray(name) FROM clusterAllReplicas('${CLUSTER}', system.columns)
      WHERE database = '${address.database}' AND table = 'letters' AND name IN ('itemIndex', 'mapping', 'isBatch')`;
    const [[before] = []] = await rowsOf(address, columns);
    expect(new Set(before as string[])).toEqual(new Set(['itemIndex', 'isBatch']));
    expect(await migrateSchema(address, onCluster)).toMatchObject({ from: 5, to: SCHEMA_VERSION });
    const [[after] = []] = await rowsOf(address, columns);
    expect((after as string[]).filter((name) => name === 'mapping')).toHaveLength((before as string[]).length / 2);
  });

  test('is what the command makes, and says', async () => {
    const { database } = await addressOf();
    const env = { STORE: 'clickhouse', CLICKHOUSE_URL: clusterUrl(), CLICKHOUSE_DATABASE: database, CLICKHOUSE_CLUSTER: CLUSTER };
    const dry = await runHere(['migrate', '--dry-run'], env);
    expect(dry).toMatchObject({ status: 0, stderr: `the tables would go from version 0 to ${SCHEMA_VERSION}\n` });
    expect(dry.stdout).toContain(`"events" ON CLUSTER '${CLUSTER}' (`);
    expect((await runHere(['migrate'], env)).stderr).toBe(`the tables went from version 0 to ${SCHEMA_VERSION}\n`);
    const client = quietClient({ url: clusterUrl(), database });
    await client.command({ query: 'DROP TABLE source_offsets' });
    await client.close();
    expect((await runHere(['migrate', '--dry-run'], env)).stderr).toBe(
      `what the tables of version ${SCHEMA_VERSION} lacked would be made\n`,
    );
    expect((await runHere(['migrate'], env)).stderr).toBe(`what the tables of version ${SCHEMA_VERSION} lacked was made\n`);
    expect((await runHere(['migrate'], env)).stderr).toBe(`nothing to do: the tables have version ${SCHEMA_VERSION}\n`);
  });

  test('waits for no node that is away where the others have the tables', async () => {
    const server = await breakableNode();
    const address = await addressOf(server.url);
    await migrateSchema(address, onCluster);
    await server.break({ kind: 'refuse', code: 159, name: 'TIMEOUT_EXCEEDED', message: 'a host is away', matching: 'ON CLUSTER' });
    expect(await migrateSchema(address, onCluster)).toMatchObject({ statements: [] });
  });
});

describe('a database is refused', () => {
  const HOW = 'or take another CLICKHOUSE_DATABASE, into which the feed moves the events (docs/moving.md)';

  test('with tables of one server, for a cluster', async () => {
    const address = await addressOf();
    await migrateSchema(address);
    const what = `the tables in CLICKHOUSE_DATABASE=${address.database} are those of one server`;
    const message = `${what}, and CLICKHOUSE_CLUSTER is ${CLUSTER}: unset it, ${HOW}`;
    await expect(migrateSchema(address, onCluster)).rejects.toThrow(message);
    expect(await migrateSchema(address)).toMatchObject({ from: SCHEMA_VERSION, statements: [] });
    const env = { STORE: 'clickhouse', CLICKHOUSE_URL: clusterUrl(), CLICKHOUSE_DATABASE: address.database, CLICKHOUSE_CLUSTER: CLUSTER };
    expect(await runHere(['migrate'], env)).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
  });

  test('with tables of a cluster, without one and for another one', async () => {
    const address = await addressOf();
    await migrateSchema(address, onCluster);
    const what = `the tables in CLICKHOUSE_DATABASE=${address.database} are those of the cluster ${CLUSTER}`;
    await expect(migrateSchema(address)).rejects.toThrow(`${what}, and CLICKHOUSE_CLUSTER is not set: set it to ${CLUSTER}, ${HOW}`);
    const other = migrateSchema(address, { cluster: 'other' });
    await expect(other).rejects.toThrow(`${what}, and CLICKHOUSE_CLUSTER is other: set it to ${CLUSTER}, ${HOW}`);
  });

  test('with events that are spread over other shards', async () => {
    const server = await breakableNode();
    const address = await addressOf(server.url);
    await migrateSchema(address, onCluster);
    const three = answerOf(
      ['UInt32', 'UInt32'],
      [1, 2, 3].map((shard) => [shard, 1]),
    );
    await server.break({ kind: 'answer', text: three, matching: 'shard_weight' });
    const what = `the events in CLICKHOUSE_DATABASE=${address.database} are spread over shards with the weights 1,1`;
    const message = `${what}, and CLICKHOUSE_CLUSTER=${CLUSTER} has 1,1,1: ${HOW.replace(/^or /, '')}`;
    await expect(migrateSchema(address, onCluster)).rejects.toThrow(message);
  });

  test('for a cluster that the server does not know', async () => {
    const address = await addressOf();
    const migrated = migrateSchema(address, { cluster: 'other' });
    const message = `CLICKHOUSE_CLUSTER=other is in no remote_servers of ClickHouse at CLICKHOUSE_URL; allowed: ${FIRST_NODE}, ${CLUSTER}`;
    await expect(migrated).rejects.toThrow(message);
    expect(await rowsOf(address, 'SELECT count() FROM system.tables WHERE database = currentDatabase()')).toEqual([['0']]);
  });
});

/** The nodes of the profile, each with the macros that it has there. */
const NODES = [
  ['1', '1'],
  ['1', '2'],
  ['2', '1'],
  ['2', '2'],
] as const;

/**
 * The engine makes replicated tables, with its own Keeper, but takes no inserts into them: nothing fetches. So each node is a database, and
 * what its macros would fill in is filled in before.
 */
test('the statements that are printed make replicas of each shard, and of the other tables one for each node', async () => {
  const { database } = await addressOf();
  const env = { STORE: 'clickhouse', CLICKHOUSE_URL: clusterUrl(), CLICKHOUSE_DATABASE: database, CLICKHOUSE_CLUSTER: CLUSTER };
  const { stdout } = await runHere(['migrate', '--dry-run'], env);
  const made = stdout.split(';\n').filter((one) => one.startsWith('CREATE TABLE'));
  expect(made).toHaveLength(EVERY_NODE.length + 3);
  for (const [shard, replica] of NODES) {
    const node = await testDatabase(clusterUrl(), clusterUrl());
    for (const statement of made) {
      const ofNode = statement.replace(` ON CLUSTER '${CLUSTER}'`, '').replaceAll('{shard}', shard).replaceAll('{replica}', replica);
      await node.client.command({ query: ofNode });
    }
  }
  const replicas = await rowsOf(
    { urls: [], user: 'default', password: '', database },
    `SELECT zookeeper_path, groupArray(replica_name), max(total_replicas) FROM
      (SELECT * FROM system.replicas WHERE position(zookeeper_path, '/${database}/') > 0 ORDER BY replica_name)
      GROUP BY zookeeper_path ORDER BY zookeeper_path`,
  );
  const path = (group: string, table: string) => `/clickhouse/${CLUSTER}/tables/${group}/${database}/${table}`;
  const everywhere = NODES.map(([shard, replica]) => `${shard}-${replica}`);
  const ofNodes = EVERY_NODE.map((table) => [path('all', table), everywhere, 4]);
  const ofShards = ['1', '2'].map((shard) => [path(shard, 'events_local'), ['1', '2'], 2]);
  expect(replicas).toEqual([...ofShards, ...ofNodes].sort());
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runningInsertsStatement } from '../../sql/clickhouse/clock-statements.ts';
import { onCluster, syncReplicasStatement } from '../../sql/clickhouse/cluster.ts';
import { createEventsTable } from '../../sql/clickhouse/schema.ts';
import { CLOCK_TABLE, createClockTable, createVersionsTable } from '../../sql/clickhouse/store-tables.ts';
import type { SqlStatement } from '../../sql/statement.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import { CLUSTER, nodeConfig } from './cluster/cluster-config.ts';
import { ownServer } from './engine.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/clickhouse.md'), 'utf8');

/** The rights in lines that begin like this, such as `CLUSTER ON *.*`. */
function granted(begin: RegExp): readonly string[] {
  return DOCUMENT.split('\n')
    .filter((line) => begin.test(line))
    .flatMap((line) => [...line.replace(begin, '').matchAll(/(?<names>[A-Z][A-Z, ]*?) ON (?<on>[\w.*]+)/g)])
    .flatMap(({ groups }) => (groups?.['names'] ?? '').split(', ').map((name) => `${name} ON ${groups?.['on']}`));
}

/** What is granted on every server, and on the nodes of a cluster besides. */
const ON_SERVERS = granted(/^GRANT (?!ON CLUSTER)/);
const ON_NODES = granted(/^GRANT ON CLUSTER '\w+' /);

const cluster = { name: CLUSTER, database: 'shieldlog' };

/** As a node runs a statement that is `ON CLUSTER`. */
const ofNode = (statement: string): string => statement.replace(onCluster(cluster), '');

const SYNC = syncReplicasStatement(CLOCK_TABLE, cluster).text;

/** A statement of the program for each right, which is refused for want of it before anything of it is done. */
const STATEMENTS: Readonly<Record<string, string | SqlStatement>> = {
  'CLUSTER ON *.*': SYNC,
  'REMOTE ON *.*': runningInsertsStatement('shieldlog', cluster),
  'SELECT ON system.clusters': 'SELECT DISTINCT cluster FROM system.clusters',
  'SYSTEM SYNC REPLICA ON shieldlog.*': ofNode(SYNC),
  'CREATE DATABASE ON shieldlog.*': ofNode(`CREATE DATABASE IF NOT EXISTS shieldlog${onCluster(cluster)}`),
  'TABLE ENGINE ON ReplicatedMergeTree': createVersionsTable(cluster),
  'TABLE ENGINE ON ReplicatedReplacingMergeTree': createEventsTable({ table: 'events_local', cluster }),
  'TABLE ENGINE ON ReplicatedAggregatingMergeTree': createClockTable(cluster),
};

const ACCESS = `<access_control_improvements>
  <on_cluster_queries_require_cluster_grant>true</on_cluster_queries_require_cluster_grant>
  <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
  <table_engines_require_grant>true</table_engines_require_grant>
</access_control_improvements>`;

function userWith(name: string, privileges: readonly string[]): string {
  const queries = privileges.map((privilege) => `<query>GRANT ${privilege}</query>`);
  const grants = name === 'default' ? '' : `<grants>${queries.join('')}</grants>`;
  return `<${name}><password></password><profile>default</profile><quota>default</quota>${grants}</${name}>`;
}

test('every right that the document grants on a cluster is needed by a statement of the program, and enough for it', async () => {
  expect(Object.keys(STATEMENTS).toSorted()).toEqual(ON_NODES.toSorted());
  const without = (left: string) => [...ON_SERVERS, ...ON_NODES].filter((privilege) => privilege !== left);
  const users = [
    userWith('default', []),
    userWith('everything', without('')),
    ...ON_NODES.map((left, nth) => userWith(`u${nth}`, without(left))),
  ];
  // Nobody listens at these ports: what is allowed fails for another reason.
  const server = await ownServer({
    config: `${ACCESS}${nodeConfig(1, [
      [1, 2],
      [3, 4],
    ])}`,
    users: `<profiles><default/></profiles><quotas><default/></quotas><users>${users.join('')}</users>`,
  });
  const refusalOf = async (user: string, database: string, statement: string | SqlStatement): Promise<string> => {
    const client = new ClickhouseClient({ urls: [server.url], user, password: '', database });
    onTestFinished(() => client.close());
    const asked = typeof statement === 'string' ? { text: statement, params: [] } : statement;
    const refusal = await client.run(asked).then(
      () => '',
      (error: Error) => error.message,
    );
    return refusal.includes('Not enough privileges') ? refusal : '';
  };
  expect(await refusalOf('default', 'default', 'CREATE DATABASE shieldlog')).toBe('');
  for (const [nth, privilege] of ON_NODES.entries()) {
    const statement = STATEMENTS[privilege] as string | SqlStatement;
    expect([privilege, await refusalOf('everything', 'shieldlog', statement)]).toEqual([privilege, '']);
    expect([privilege, await refusalOf(`u${nth}`, 'shieldlog', statement)]).toEqual([privilege, expect.stringContaining(`u${nth}`)]);
  }
});

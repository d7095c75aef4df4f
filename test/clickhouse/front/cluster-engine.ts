import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cluster of the Compose profile `clickhouse`, as its nodes name it. */
export const CLUSTER = 'shieldlog';

const PROFILE = join(import.meta.dirname, '../../../ops/clickhouse/cluster.xml');

/** Names of this machine, one for each shard: the engine takes both for itself. */
const HOSTS = ['localhost', '127.0.0.1'];

/**
 * The file of the profile's nodes for a process that is all of them, and has no network: each shard has one replica, which is the process
 * itself, and Keeper is in it, too. A server that knows the port of its nodes takes their names for its own; none listens there. One whose
 * nodes have databases of their own (`<default_database>`) does not.
 */
export function engineConfig(): string {
  const profile = readFileSync(PROFILE, 'utf8');
  return profile
    .replace(/<secret [^>]*\/>/, '')
    .replaceAll(/<replica>\s*<host>clickhouse-\d-2<\/host>[\s\S]*?<\/replica>/g, '')
    .replaceAll(/<host>clickhouse-(\d)-1<\/host>/g, (_, shard: string) => `<host>${HOSTS[Number(shard) - 1]}</host>`)
    .replace(/(<zookeeper>)[\s\S]*(<\/zookeeper>)/, '$1<implementation>testkeeper</implementation>$2')
    .replaceAll(/<(shard|replica) from_env="[A-Z_]+"\/>/g, '<$1>1</$1>')
    .replace('</clickhouse>', '<tcp_port>9000</tcp_port></clickhouse>');
}

/** What the front adds to a statement of a program on a cluster. */
export function clusterSettings(settings: ReadonlyMap<string, string>, database: string): ReadonlyMap<string, string> {
  // Only these programs send it.
  if (!settings.has('distributed_foreground_insert')) return new Map();
  // Both shards have the same tables, of which each sees its own zones.
  const ofShard = `intHash64("shieldZoneId") % ${HOSTS.length} = shardNum() - 1`;
  return new Map([
    ['additional_table_filters', `{'${database}.events_local': '${ofShard}'}`],
    // Nobody can connect to the process.
    ['prefer_localhost_replica', '1'],
  ]);
}

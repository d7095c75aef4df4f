import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cluster of the Compose profile `clickhouse`, as its nodes name it. */
export const CLUSTER = 'shieldlog';

/** A cluster of the first node alone, by both of its names. */
export const FIRST_NODE = 'first_node';

const PROFILE = readFileSync(join(import.meta.dirname, '../../../ops/clickhouse/cluster.xml'), 'utf8');

/** The ports at which a node is reached, in the order of the replicas that it stands for. */
export type NodePorts = readonly [first: number, second: number];

/** The profile's values that are not in the file. */
type Environment = Readonly<Record<string, string>>;

/**
 * What stands in `<clickhouse>` of the configuration of a node, after the file of the profile. A shard is one node, which both of its
 * replicas name. Keeper is in the process.
 *
 * @param shard the node's own, from 1
 * @param nodes the ports of all, one node for each shard
 */
export function nodeConfig(shard: number, nodes: readonly NodePorts[]): string {
  const environment: Environment = { CLICKHOUSE_CLUSTER_SECRET: 'between nodes', CLICKHOUSE_SHARD: String(shard), CLICKHOUSE_REPLICA: '1' };
  const firstShard = /<shard>[\s\S]*?<\/shard>/.exec(PROFILE)?.[0] ?? '';
  const [, inside = ''] = /<clickhouse>([\s\S]*)<\/clickhouse>/.exec(PROFILE) ?? [];
  return inside
    .replace('</remote_servers>', `<${FIRST_NODE}>${firstShard}</${FIRST_NODE}></remote_servers>`)
    .replaceAll(/<host>clickhouse-(\d)-(\d)<\/host>\s*<port>9000<\/port>/g, (_, of: string, replica: string) => {
      return `<host>127.0.0.1</host><port>${nodes[Number(of) - 1]?.[Number(replica) - 1]}</port>`;
    })
    .replaceAll(/<(\w+) from_env="([A-Z_]+)"\/>/g, (_, name: string, variable: string) => `<${name}>${environment[variable]}</${name}>`)
    .replace(/(<zookeeper>)[\s\S]*(<\/zookeeper>)/, '$1<implementation>testkeeper</implementation>$2');
}

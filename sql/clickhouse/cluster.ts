import { clickhouseStatement } from '../dialect.ts';
import { type SqlFragment, type SqlStatement, sql, text, trusted } from '../statement.ts';

/** The cluster that a store's tables are on. Neither name has anything that a quoted text or a path could not hold. */
export interface Cluster {
  /** As `remote_servers` of its nodes names it. */
  readonly name: string;
  /** The database of the tables, on every node. */
  readonly database: string;
}

/** The table that has the events of the server, or of a shard. */
export const EVENTS_TABLE = 'events_local';

/** The table through which the events of all shards are read and stored. */
export const SHARDED_EVENTS = 'events';

/** The table that events are read from and stored in. */
export function eventsTableOf(cluster: Cluster | null): string {
  return cluster === null ? EVENTS_TABLE : SHARDED_EVENTS;
}

/** All copies of an event, and all events of a zone, are on one shard. */
export const SHARDING_KEY = 'intHash64("shieldZoneId")';

/** Has every node run a statement. */
export function onCluster(cluster: Cluster | null): string {
  return cluster === null ? '' : ` ON CLUSTER '${cluster.name}'`;
}

/** Which nodes have the same rows of a table: the replicas of a shard, or all nodes of all shards. */
type Replication = 'shard' | 'nodes';

/**
 * The engine of a table, which is replicated on a cluster. Of all nodes one may have the same number as one of another shard, so that a
 * replica among them has the number of its shard in its name.
 *
 * @param version the column that decides which of several rows stays; none where all do
 * @param kind the engine of rows that all stay
 */
export function tableEngine(
  table: string,
  cluster: Cluster | null,
  replication: Replication,
  version?: string,
  kind: 'MergeTree' | 'ReplacingMergeTree' | 'AggregatingMergeTree' = version === undefined ? 'MergeTree' : 'ReplacingMergeTree',
): string {
  if (cluster === null) {
    return version === undefined ? kind : `${kind}(${version})`;
  }
  const [group, replica] = replication === 'shard' ? ['{shard}', '{replica}'] : ['all', '{shard}-{replica}'];
  const path = `/clickhouse/${cluster.name}/tables/${group}/${cluster.database}/${table}`;
  return `Replicated${kind}('${path}', '${replica}'${version === undefined ? '' : `, ${version}`})`;
}

/**
 * The rows of a query on the server that is asked, or on each node of a cluster. It has no parameters, because these are not sent to other
 * nodes.
 */
export function onEachNode(cluster: Cluster | null, query: SqlFragment): SqlFragment {
  return cluster === null ? sql`(${query})` : sql`clusterAllReplicas(${trusted(`'${cluster.name}'`)}, view(${query}))`;
}

/** A table of the server that is asked, or of several nodes, with the rows that a condition lets through. */
interface NodeRows {
  readonly database: string;
  readonly table: string;
  readonly cluster: Cluster | null;
}

/** The parts of a table: those of the server, or of a replica of each shard. Columns: `partition`, `rows`, `bytes_on_disk`. */
export function activeParts({ database, table, cluster }: NodeRows): SqlFragment {
  if (cluster === null) {
    return sql`system.parts
      WHERE active AND database = ${text(database)} AND table = ${text(table)}`;
  }
  // A parameter is not sent to other nodes.
  const ofTable = trusted(`database = '${cluster.database}' AND table = '${table}'`);
  return sql`cluster(${trusted(`'${cluster.name}'`)},
    view(SELECT partition, rows, bytes_on_disk FROM system.parts WHERE active AND ${ofTable}))`;
}

/** Resolves once every replica of a table has fetched what the others had stored when it was asked. */
export function syncReplicasStatement(table: string, cluster: Cluster): SqlStatement {
  return clickhouseStatement(sql`SYSTEM SYNC REPLICA${trusted(`${onCluster(cluster)} ${cluster.database}.${table}`)} LIGHTWEIGHT`);
}

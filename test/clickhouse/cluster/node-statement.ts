import { FIRST_NODE } from './cluster-config.ts';

/** ON CLUSTER before any bracket or text: in the head of a statement, and not in its data. */
const ON_CLUSTER = /^([A-Z][^(']*?) ON CLUSTER '[^']*'/;

const REPLICATED = /\bReplicated(\w*MergeTree\()'([^']*)', '[^']*'(?:, )?/;

const NEW_TABLE = /^CREATE TABLE IF NOT EXISTS "?(\w+)"?/;

/** Whether all nodes run a statement, whichever of them is asked. */
export function isOnCluster(statement: string): boolean {
  return ON_CLUSTER.test(statement);
}

/** Whether a statement waits for replicas. Tables that are not replicated have nothing to wait for. */
export function isSync(statement: string): boolean {
  return /^SYSTEM SYNC REPLICA\b/.test(statement);
}

/**
 * What one node runs of a statement, so that nodes that fetch nothing from each other answer as those that do: a replicated table of a
 * shard is a table of the shard's node. A table of which each node has all rows is on the first node, and the others ask that for it.
 *
 * @param shard the node's, from 1
 */
export function statementOfNode(statement: string, shard: number): string {
  const ofNode = statement.replace(ON_CLUSTER, '$1');
  const [, , path = ''] = REPLICATED.exec(ofNode) ?? [];
  const [, database, table] = /\/tables\/all\/([^/]*)\/(.*)$/.exec(path) ?? [];
  if (database === undefined || shard === 1) return ofNode.replace(REPLICATED, '$1');
  const [create] = NEW_TABLE.exec(ofNode) ?? [];
  if (create === undefined) throw new Error(`A replicated table is made in another way than by CREATE TABLE IF NOT EXISTS: ${statement}`);
  return `${create} AS cluster('${FIRST_NODE}', '${database}', '${table}')`;
}

import { ClickHouseError } from '@clickhouse/client';
import { type Cluster, EVENTS_TABLE, onEachNode, SHARDED_EVENTS } from '../../sql/clickhouse/cluster.ts';
import {
  CLOCK_TABLE,
  EARLIER_LETTER_TABLES,
  IDENTITY_TABLE,
  SETTINGS_TABLE,
  STORE_TABLE_NAMES,
  VERSIONS_TABLE,
} from '../../sql/clickhouse/store-tables.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { foldTextFunction } from '../../sql/fold-text.ts';
import { type SqlFragment, sql, text, textList, trusted } from '../../sql/statement.ts';
import { IncompatibleStore } from '../store-error.ts';
import type { ClickhouseClient } from './server/client.ts';

/** The tables that each node of a cluster has. */
const NODE_TABLES = [EVENTS_TABLE, SHARDED_EVENTS, IDENTITY_TABLE, VERSIONS_TABLE, SETTINGS_TABLE, CLOCK_TABLE, ...STORE_TABLE_NAMES];

const HOW_TO_MOVE = 'take another CLICKHOUSE_DATABASE, into which the feed moves the events (docs/moving.md)';

/**
 * Throws {@link IncompatibleStore} where a database has tables of one server and a cluster is asked for, or tables of a cluster and
 * another one or none is asked for.
 */
export async function refuseOtherTables(client: ClickhouseClient, database: string, cluster: Cluster | null): Promise<void> {
  const { rows } = await client.read(
    clickhouseStatement(
      sql`SELECT name, engine_full FROM system.tables
        WHERE database = ${text(database)} AND name IN ${textList([EVENTS_TABLE, SHARDED_EVENTS])}`,
    ),
  );
  const engines = new Map((rows as readonly (readonly [string, string])[]).map(([name, engine]) => [name, engine]));
  const [, of] = /^Distributed\('([^']*)'/.exec(engines.get(SHARDED_EVENTS) ?? '') ?? [];
  const what = `the tables in CLICKHOUSE_DATABASE=${database} are those of`;
  if (of !== undefined && of !== cluster?.name) {
    const asked = cluster === null ? 'CLICKHOUSE_CLUSTER is not set' : `CLICKHOUSE_CLUSTER is ${cluster.name}`;
    throw new IncompatibleStore(`${what} the cluster ${of}, and ${asked}: set it to ${of}, or ${HOW_TO_MOVE}`);
  }
  if (cluster !== null && engines.has(EVENTS_TABLE) && of === undefined) {
    throw new IncompatibleStore(`${what} one server, and CLICKHOUSE_CLUSTER is ${cluster.name}: unset it, or ${HOW_TO_MOVE}`);
  }
}

export interface TablesOnNodes {
  /** Whether each node that can be asked has all tables. */
  readonly areThere: boolean;
  /** The number of the store; undefined where no node has it. */
  readonly storeId: number | undefined;
  /** The weights of the shards of the cluster, in their order. */
  readonly shards: string;
}

/**
 * Which tables of a store the nodes of a cluster have. Throws {@link IncompatibleStore} where there is no such cluster, or where it has
 * other shards than those that the events are spread over.
 */
export async function tablesOnNodes(client: ClickhouseClient, cluster: Cluster): Promise<TablesOnNodes> {
  const shards = await shardsOf(client, cluster);
  const ours = trusted(NODE_TABLES.map((table) => `'${table}'`).join(', '));
  const commentOf = (table: string) => sql`anyIf(comment, name = ${trusted(`'${table}'`)})`;
  const ofNode = sql`SELECT count() AS tables, ${commentOf(IDENTITY_TABLE)} AS number, ${commentOf(SHARDED_EVENTS)} AS shards
    FROM system.tables WHERE database = ${trusted(`'${cluster.database}'`)} AND name IN (${ours})`;
  const { rows } = await client.read(
    clickhouseStatement(sql`SELECT tables, number, shards FROM ${onEachNode(cluster, ofNode)}`),
    // A node that is away is asked when it is there and a program starts.
    { settings: { skip_unavailable_shards: 1 } },
  );
  const other = rows.map(([, , spread]) => String(spread)).find((spread) => spread !== '' && spread !== shards);
  if (other !== undefined) {
    const what = `the events in CLICKHOUSE_DATABASE=${cluster.database} are spread over shards with the weights ${other}`;
    throw new IncompatibleStore(`${what}, and CLICKHOUSE_CLUSTER=${cluster.name} has ${shards}: ${HOW_TO_MOVE}`);
  }
  const [number] = rows.map(([, ofStore]) => String(ofStore)).filter((ofStore) => ofStore !== '');
  return {
    shards,
    areThere: rows.length > 0 && rows.every(([tables]) => Number(tables) === NODE_TABLES.length),
    storeId: number === undefined ? undefined : Number(number),
  };
}

/**
 * Which tables of the dead letters of earlier versions are on the server, or on a node that can be asked. Where a migration may have been
 * cut while it had tables detached, those of the server that is asked count, too.
 */
export async function earlierLetterTables(
  client: ClickhouseClient,
  cluster: Cluster | null,
  mayBeDetached: boolean,
): Promise<ReadonlySet<string>> {
  const names = trusted(EARLIER_LETTER_TABLES.map((table) => `'${table}'`).join(', '));
  const database = cluster === null ? trusted('currentDatabase()') : trusted(`'${cluster.database}'`);
  const ofNode = sql`SELECT name FROM system.tables WHERE database = ${database} AND name IN (${names})`;
  const statement = clickhouseStatement(sql`SELECT name FROM ${onEachNode(cluster, ofNode)}`);
  const { rows } = await client.read(statement, { settings: { skip_unavailable_shards: 1 } });
  const present = new Set(rows.map(([name]) => String(name)));
  for (const table of mayBeDetached ? EARLIER_LETTER_TABLES : []) {
    if (!present.has(table) && (await isDetached(client, table))) {
      present.add(table);
    }
  }
  return present;
}

const UNKNOWN_FUNCTION = 46;
const CANNOT_GET_CREATE_TABLE_QUERY = 390;

/** Whether a table that is not there is detached: its definition can be read all the same, without a right to list such tables. */
function isDetached(client: ClickhouseClient, table: string): Promise<boolean> {
  return isAnswered(client, sql`SHOW CREATE TABLE ${trusted(table)}`, CANNOT_GET_CREATE_TABLE_QUERY);
}

/** Whether a statement is answered, and not refused with this code. */
async function isAnswered(client: ClickhouseClient, statement: SqlFragment, refusal: number): Promise<boolean> {
  try {
    await client.read(clickhouseStatement(statement));
    return true;
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof ClickHouseError && Number(cause.code) === refusal) {
      return false;
    }
    throw error;
  }
}

/** Whether each node that can be asked, or the one server, has the function that folds texts as this program does. */
export async function hasFoldText(client: ClickhouseClient, cluster: Cluster | null): Promise<boolean> {
  const { name } = foldTextFunction();
  // The server that is asked puts the definition in the place of a call, so that this says nothing of other nodes. To list all functions
  // takes a node ten times as long.
  if (cluster === null) {
    return await isAnswered(client, sql`SELECT ${trusted(name)}('')`, UNKNOWN_FUNCTION);
  }
  const ofNode = sql`SELECT count() AS functions FROM system.functions WHERE name = ${trusted(`'${name}'`)}`;
  const statement = clickhouseStatement(sql`SELECT functions FROM ${onEachNode(cluster, ofNode)}`);
  const { rows } = await client.read(statement, { settings: { skip_unavailable_shards: 1 } });
  return rows.length > 0 && rows.every(([functions]) => Number(functions) === 1);
}

async function shardsOf(client: ClickhouseClient, { name }: Cluster): Promise<string> {
  const { rows } = await client.read(
    clickhouseStatement(sql`SELECT shard_num, any(shard_weight) FROM system.clusters WHERE cluster = ${text(name)}
      GROUP BY shard_num ORDER BY shard_num`),
  );
  if (rows.length > 0) {
    return rows.map(([, weight]) => String(weight)).join(',');
  }
  const { rows: others } = await client.read(clickhouseStatement(sql`SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster`));
  const what = `CLICKHOUSE_CLUSTER=${name} is in no remote_servers of ClickHouse at CLICKHOUSE_URL`;
  throw new IncompatibleStore(`${what}; allowed: ${others.flat().join(', ')}`);
}

import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, EVENTS_TABLE, onCluster } from '../../sql/clickhouse/cluster.ts';
import { createEventsTable, createShardedEvents } from '../../sql/clickhouse/schema.ts';
import {
  addLetterIndex,
  addLetterMapping,
  createClockTable,
  createFoldText,
  createIdentityTable,
  createLetterTables,
  createSettingsTable,
  createStoreTables,
  createVersionsTable,
  dropMovedLetters,
  moveLetters,
  VERSIONS_TABLE,
} from '../../sql/clickhouse/store-tables.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { sql, trusted } from '../../sql/statement.ts';
import { IncompatibleStore, StoreError } from '../store-error.ts';
import { earlierLetterTables, hasFoldText, refuseOtherTables, type TablesOnNodes, tablesOnNodes } from './present-tables.ts';
import { ClickhouseClient } from './server/client.ts';
import type { ClickhouseAddress } from './server/connection.ts';

/** Where tables are made, and the number of the store whose tables they are. */
interface Place {
  readonly cluster: Cluster | null;
  readonly storeId: number;
  /** The shards of the cluster; empty where there is one server. */
  readonly shards: string;
  /** The tables of dead letters that earlier versions made, as far as they are there. */
  readonly earlierLetters: ReadonlySet<string>;
}

/** The version whose dead letters are in tables of other names. */
const LETTERS_VERSION = 5;
/** So often is the move of letters tried, which another program may do at the same time. */
const MOVE_TRIES = 5;
const MOVE_AGAIN_MS = 500;

/** A step from one version of the schema to the next. Its statements may run again, and twice at once. */
interface Migration {
  readonly version: number;
  /** The version of the event fields (`query/event-fields.ts`) whose columns it makes; absent where it makes none. */
  readonly eventFields?: number;
  readonly statements: (place: Place) => readonly string[];
}

export const CLICKHOUSE_MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    eventFields: 1,
    statements: ({ cluster, storeId, shards }) => [
      // It is the first table, because it tells those of a cluster from those of one server.
      ...(cluster === null ? [] : [createShardedEvents(cluster, EVENTS_TABLE, shards)]),
      createIdentityTable(storeId, cluster),
      createEventsTable({ table: EVENTS_TABLE, cluster }),
      ...createStoreTables(cluster),
    ],
  },
  { version: 2, statements: ({ cluster, earlierLetters }) => (earlierLetters.has('dead_letters') ? [addLetterIndex(cluster)] : []) },
  { version: 3, statements: ({ cluster }) => [createSettingsTable(cluster)] },
  { version: 4, statements: ({ cluster }) => [createClockTable(cluster)] },
  {
    version: LETTERS_VERSION,
    statements: ({ cluster, earlierLetters }) => [...createLetterTables(cluster), ...moveLetters(cluster, earlierLetters)],
  },
  { version: 6, statements: ({ cluster }) => [addLetterMapping(cluster)] },
];

/** The version of the schema that this program knows. */
export const SCHEMA_VERSION = Math.max(...CLICKHOUSE_MIGRATIONS.map(({ version }) => version));

/** What a migration would do, or did. */
export interface MigrationReport {
  /** The version of the schema before; 0 where there is none. */
  readonly from: number;
  readonly to: number;
  /** The statements, in their order. */
  readonly statements: readonly string[];
}

export interface MigrationOptions {
  readonly isDryRun?: boolean;
  /** The name of the cluster that has the tables. Default: one server has them. */
  readonly cluster?: string | null;
}

/**
 * Brings the schema of a database to the version that this program knows, or tells what would have to be run. On a cluster, that makes
 * what a node lacks, too. Throws `StoreError`: `unavailable` where the server cannot be asked, {@link IncompatibleStore} where it is older
 * than those that were tried, has a later schema, or tables that are made for another number of servers.
 */
export async function migrateSchema(address: ClickhouseAddress, options: MigrationOptions = {}): Promise<MigrationReport> {
  const { isDryRun = false, cluster: name = null } = options;
  const cluster = name === null ? null : { name, database: address.database };
  const database = `CREATE DATABASE IF NOT EXISTS ${identifier(address.database)}${onCluster(cluster)}`;
  await using server = new ClickhouseClient(address, { database: 'default' });
  await refuseOtherTables(server, address.database, cluster);
  const found = cluster === null ? NO_TABLES : await tablesOnNodes(server, cluster);
  const functions = (await hasFoldText(server, cluster)) ? [] : [createFoldText(cluster)];
  const isThere = await hasDatabase(server, address.database);
  if (!isThere && isDryRun) {
    const statements = [database, ...functions, createVersionsTable(cluster), ...statementsAfter(0, placeOf(cluster, found, new Set()))];
    return { from: 0, to: SCHEMA_VERSION, statements };
  }
  // Whoever may not make databases can use one that somebody else has made.
  if (cluster === null ? !isThere : !found.areThere) {
    await server.run(clickhouseStatement(trusted(database)));
  }
  await using client = new ClickhouseClient(address);
  for (let tries = 1; ; tries += 1) {
    const from = await versionOf(client);
    const earlierLetters = await earlierLetterTables(client, cluster, from > 0 && from < LETTERS_VERSION);
    const place = placeOf(cluster, found, earlierLetters);
    try {
      return await migrateTables(client, from, place, { areThere: found.areThere, functions, isDryRun });
    } catch (error) {
      // Another program that moves letters at the same time takes tables away.
      if (earlierLetters.size === 0 || tries === MOVE_TRIES || !(error instanceof StoreError) || error instanceof IncompatibleStore) {
        throw error;
      }
      await delay(tries * MOVE_AGAIN_MS);
    }
  }
}

/** What is known of the tables of one server. */
const NO_TABLES: TablesOnNodes = { areThere: false, storeId: undefined, shards: '' };

/** A node that is new to the cluster gets the number that the others have. */
function placeOf(
  cluster: Cluster | null,
  { shards, storeId = Math.floor(Math.random() * 2 ** 32) }: TablesOnNodes,
  earlierLetters: ReadonlySet<string>,
): Place {
  return { cluster, storeId, shards, earlierLetters };
}

async function migrateTables(
  client: ClickhouseClient,
  from: number,
  place: Place,
  { areThere, functions, isDryRun }: { readonly areThere: boolean; readonly functions: readonly string[]; readonly isDryRun: boolean },
): Promise<MigrationReport> {
  const run = (statement: string) => client.run(clickhouseStatement(trusted(statement)));
  if (from > SCHEMA_VERSION) {
    const what = `the schema in CLICKHOUSE_DATABASE has version ${from}, and this program knows ${SCHEMA_VERSION} at most`;
    throw new IncompatibleStore(`${what}: run the program that made it, or a later one`);
  }
  const { cluster, earlierLetters } = place;
  const isLacking = from === 0 || (cluster !== null && !areThere);
  const tables = isLacking ? [createVersionsTable(cluster), ...statementsAfter(0, place)] : statementsAfter(from, place);
  const left = from < LETTERS_VERSION || isLacking ? [] : dropMovedLetters(cluster, earlierLetters);
  const statements = [...functions, ...tables, ...left];
  if (!isDryRun) {
    for (const statement of statements) {
      await run(statement);
    }
  }
  return { from, to: SCHEMA_VERSION, statements };
}

/** The statements of all later versions. Each version is written down once it is there. */
function statementsAfter(from: number, place: Place): string[] {
  return CLICKHOUSE_MIGRATIONS.filter(({ version }) => version > from).flatMap(({ version, statements }) => [
    ...statements(place),
    `INSERT INTO ${VERSIONS_TABLE} SELECT ${version}, toUnixTimestamp64Milli(now64(3))`,
  ]);
}

async function versionOf(client: ClickhouseClient): Promise<number> {
  const [isThere] = await client.readRow(clickhouseStatement(sql`EXISTS TABLE schema_versions`));
  if (Number(isThere) === 0) {
    return 0;
  }
  const [version] = await client.readRow(clickhouseStatement(sql`SELECT max(version) FROM schema_versions`));
  return Number(version);
}

async function hasDatabase(client: ClickhouseClient, database: string): Promise<boolean> {
  const [isThere] = await client.readRow(clickhouseStatement(sql`EXISTS DATABASE ${trusted(identifier(database))}`));
  return Number(isThere) === 1;
}

function identifier(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

import { foldTextFunction } from '../../sql/clickhouse/fold-text.ts';
import { createEventsTable } from '../../sql/clickhouse/schema.ts';
import { createIdentityTable, IDENTITY_TABLE, STORE_TABLES } from '../../sql/clickhouse/store-tables.ts';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { sql, text, trusted } from '../../sql/statement.ts';
import { StoreError } from '../event-store.ts';
import { type ClickhouseAddress, ClickhouseClient } from './server/client.ts';

/** The oldest server that the store was tried on. */
const OLDEST_SERVER = [26, 7] as const;

/** A server or a schema that this program cannot use, until somebody changes one of them. */
export class IncompatibleServer extends StoreError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/** The table of the events of one server. */
export const EVENTS_TABLE = 'events_local';

/** A step from one version of the schema to the next. Its statements may run again, and twice at once. */
interface Migration {
  readonly version: number;
  readonly statements: () => readonly string[];
}

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    statements: () => [
      createIdentityTable(Math.floor(Math.random() * 2 ** 32)),
      foldTextFunction(),
      createEventsTable({ table: EVENTS_TABLE }),
      ...Object.entries(STORE_TABLES).map(([name, options]) => `CREATE TABLE IF NOT EXISTS ${name} ${options}`),
    ],
  },
];

const VERSIONS_TABLE = 'CREATE TABLE IF NOT EXISTS schema_versions (version Int64, appliedAt Int64) ENGINE = MergeTree ORDER BY version';

const KNOWN_VERSION = Math.max(...MIGRATIONS.map(({ version }) => version));

/** What a migration would do, or did. */
export interface MigrationReport {
  /** The version of the schema before; 0 where there is none. */
  readonly from: number;
  readonly to: number;
  /** The statements, in their order. */
  readonly statements: readonly string[];
}

/**
 * Brings the schema of a database to the version that this program knows, or tells what would have to be run. Throws `StoreError`:
 * `unavailable` where the server cannot be asked, {@link IncompatibleServer} where it is older than those that were tried or has a later
 * schema.
 */
export async function migrateSchema(address: ClickhouseAddress, { isDryRun = false } = {}): Promise<MigrationReport> {
  const database = `CREATE DATABASE IF NOT EXISTS ${identifier(address.database)}`;
  const server = new ClickhouseClient({ ...address, database: 'default' });
  try {
    await refuseOldServer(server);
    const isThere = await hasDatabase(server, address.database);
    if (!isThere && isDryRun) {
      return { from: 0, to: KNOWN_VERSION, statements: [database, VERSIONS_TABLE, ...statementsAfter(0)] };
    }
    await server.run(clickhouseStatement(trusted(database)));
  } finally {
    await server.close();
  }
  const client = new ClickhouseClient(address);
  try {
    return await migrateTables(client, isDryRun);
  } finally {
    await client.close();
  }
}

async function migrateTables(client: ClickhouseClient, isDryRun: boolean): Promise<MigrationReport> {
  const run = (statement: string) => client.run(clickhouseStatement(trusted(statement)));
  if (!isDryRun) {
    await run(VERSIONS_TABLE);
  }
  const from = await versionOf(client);
  if (from > KNOWN_VERSION) {
    const what = `the schema in CLICKHOUSE_DATABASE has version ${from}, and this program knows ${KNOWN_VERSION} at most`;
    throw new IncompatibleServer(`${what}: run the program that made it, or a later one`);
  }
  const statements = statementsAfter(from);
  if (!isDryRun) {
    for (const statement of statements) {
      await run(statement);
    }
  }
  return { from, to: KNOWN_VERSION, statements };
}

/** The statements of all later versions. Each version is written down once it is there. */
function statementsAfter(from: number): string[] {
  return MIGRATIONS.filter(({ version }) => version > from).flatMap(({ version, statements }) => [
    ...statements(),
    `INSERT INTO schema_versions SELECT ${version}, toUnixTimestamp64Milli(now64(3))`,
  ]);
}

async function versionOf(client: ClickhouseClient): Promise<number> {
  const { rows: tables } = await client.read(clickhouseStatement(sql`EXISTS TABLE schema_versions`));
  if (Number(tables[0]?.[0]) === 0) {
    return 0;
  }
  const { rows } = await client.read(clickhouseStatement(sql`SELECT max(version) FROM schema_versions`));
  return Number(rows[0]?.[0]);
}

async function hasDatabase(client: ClickhouseClient, database: string): Promise<boolean> {
  const { rows } = await client.read(clickhouseStatement(sql`EXISTS DATABASE ${trusted(identifier(database))}`));
  return Number(rows[0]?.[0]) === 1;
}

async function refuseOldServer(client: ClickhouseClient): Promise<void> {
  const { rows } = await client.read(clickhouseStatement(sql`SELECT version()`));
  const version = String(rows[0]?.[0]);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    const what = `ClickHouse at CLICKHOUSE_URL has version ${version}`;
    throw new IncompatibleServer(`${what}; allowed: ${OLDEST_SERVER.join('.')} or later`);
  }
}

/** The number of a store, 32 bits that tell its cursors from those of others. */
export async function storeIdOf(client: ClickhouseClient): Promise<number> {
  const { rows } = await client.read(
    clickhouseStatement(sql`SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = ${text(IDENTITY_TABLE)}`),
  );
  return Number(rows[0]?.[0]);
}

function identifier(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

import { foldTextFunction } from '../fold-text.ts';
import { type SqlFragment, sql, trusted } from '../statement.ts';
import { type Cluster, onCluster, tableEngine } from './cluster.ts';

/** What is acknowledged survives a loss of power. Source offsets need not: messages that are read again are the same events. */
const DURABLE = 'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1';

/** The engine of a table, of whose rows the one with the highest `version` stays. */
type Engine = (version?: string) => string;

/** The tables of a store beside that of the events. Every node of a cluster has all of their rows. */
const STORE_TABLES: Readonly<Record<string, (engine: Engine) => string>> = {
  // The latest row of a partition counts, not the highest offset: a topic may be made anew.
  source_offsets: (engine) => `(topic String, partition Int32, nextOffset Int64, topicId Nullable(String), writtenAt Int64)
    ENGINE = ${engine('writtenAt')} ORDER BY (topic, partition)`,
  // Of letters with one identity, the first one that is not removed counts.
  dead_letters: (engine) => `(id Int64, identity String, zoneId Nullable(Int32), receivedAt Int64, source String, topic Nullable(String),
    partition Nullable(Int32), messageOffset Nullable(Int64), isBatch Bool, isRecordOnly Bool, reason String, sizeBytes Int64,
    sha256 String, bytes String CODEC(ZSTD(1)))
    ENGINE = ${engine()} PARTITION BY intDiv(receivedAt, 86400000) ORDER BY id ${DURABLE}`,
  removed_dead_letters: (engine) => `(id Int64, receivedAt Int64)
    ENGINE = ${engine()} PARTITION BY intDiv(receivedAt, 86400000) ORDER BY id ${DURABLE}`,
  // The highest sequence of a zone that a sweep of the retention removed.
  expired_watermarks: (engine) =>
    `(shieldZoneId Int32, sweep Int64, seq Int64) ENGINE = ${engine()} ORDER BY (shieldZoneId, sweep) ${DURABLE}`,
};

/** Their names. */
export const STORE_TABLE_NAMES: readonly string[] = Object.keys(STORE_TABLES);

/** The statements that make these tables. */
export function createStoreTables(cluster: Cluster | null): readonly string[] {
  return Object.entries(STORE_TABLES).map(([table, definition]) => createTable(table, cluster, definition));
}

/** The table by which the time of a store never goes back. */
export const CLOCK_TABLE = 'store_clock';

/** The statement that makes the table of the clock. Of its rows, which merges make one, the highest lead and the highest time count. */
export function createClockTable(cluster: Cluster | null): string {
  return createTable(
    CLOCK_TABLE,
    cluster,
    () => `(lead SimpleAggregateFunction(max, Int64), shown SimpleAggregateFunction(max, Int64))
    ENGINE = ${tableEngine(CLOCK_TABLE, cluster, 'nodes', undefined, 'AggregatingMergeTree')} ORDER BY tuple() ${DURABLE}`,
  );
}

/** The table of the migrations that were made. */
export const VERSIONS_TABLE = 'schema_versions';

export function createVersionsTable(cluster: Cluster | null): string {
  return createTable(VERSIONS_TABLE, cluster, (engine) => `(version Int64, appliedAt Int64) ENGINE = ${engine()} ORDER BY version`);
}

/** The statement that gives dead letters the index of their event in its message. */
export function addLetterIndex(cluster: Cluster | null): string {
  return `ALTER TABLE dead_letters${onCluster(cluster)} ADD COLUMN IF NOT EXISTS itemIndex Nullable(Int64) AFTER messageOffset`;
}

/** The table of the settings that all programs of a store have alike. */
export const SETTINGS_TABLE = 'store_settings';

/** Of two programs that write the first settings at once, ClickHouse knows the later one by the token of its INSERT. */
const KNOWN_INSERTS = 100;

export function createSettingsTable(cluster: Cluster | null): string {
  return createTable(
    SETTINGS_TABLE,
    cluster,
    (engine) => `(name String, value String, changedAt Int64)
    ENGINE = ${engine('changedAt')} ORDER BY name ${DURABLE}, non_replicated_deduplication_window = ${KNOWN_INSERTS}`,
  );
}

function createTable(table: string, cluster: Cluster | null, definition: (engine: Engine) => string): string {
  const engine: Engine = (version) => tableEngine(table, cluster, 'nodes', version);
  return `CREATE TABLE IF NOT EXISTS ${table}${onCluster(cluster)} ${definition(engine)}`;
}

/**
 * The table whose comment is the number of the store, by which its cursors are told from those of others. Of two processes that make it at
 * once, one does.
 */
export const IDENTITY_TABLE = 'store_identity';

export function createIdentityTable(storeId: number, cluster: Cluster | null): string {
  return `CREATE TABLE IF NOT EXISTS ${IDENTITY_TABLE}${onCluster(cluster)} (nothing UInt8) ENGINE = Null COMMENT '${storeId}'`;
}

/** The statement that makes the function of {@link foldTextFunction}. One that is there has the same definition, and stays. */
export function createFoldText(cluster: Cluster | null = null): string {
  const { name, definition } = foldTextFunction();
  return `CREATE FUNCTION IF NOT EXISTS ${name}${onCluster(cluster)} AS ${definition}`;
}

/** A condition that is true, and fails its statement (error 395) on a server whose database has not this store. */
export function inStore(storeId: number): SqlFragment {
  const isThere = `database = currentDatabase() AND name = '${IDENTITY_TABLE}' AND comment = '${storeId}'`;
  // It is worked out once, before the statement begins: as a condition on each row it takes a fifth of a large INSERT.
  return sql`(SELECT throwIf(count() = 0, 'the database has not the store of this program')
    FROM system.tables WHERE ${trusted(isThere)}) = 0`;
}

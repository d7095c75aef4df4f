import { foldTextFunction } from '../fold-text.ts';
import { type SqlFragment, sql, trusted } from '../statement.ts';
import { type Cluster, onCluster, syncReplicasStatement, tableEngine } from './cluster.ts';

/** What is acknowledged survives a loss of power. Source offsets need not: messages that are read again are the same events. */
const DURABLE = 'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1';

/** The engine of a table, of whose rows the one with the highest `version` stays. */
type Engine = (version?: string) => string;

/** The tables of a store beside that of the events. Every node of a cluster has all of their rows. */
const STORE_TABLES: Readonly<Record<string, (engine: Engine) => string>> = {
  // The latest row of a partition counts, not the highest offset: a topic may be made anew.
  source_offsets: (engine) => `(topic String, partition Int32, nextOffset Int64, topicId Nullable(String), writtenAt Int64)
    ENGINE = ${engine('writtenAt')} ORDER BY (topic, partition)`,
  // The highest sequence of a zone that a sweep of the retention removed.
  expired_watermarks: (engine) =>
    `(shieldZoneId Int32, sweep Int64, seq Int64) ENGINE = ${engine()} ORDER BY (shieldZoneId, sweep) ${DURABLE}`,
};

/** An identity is a hash: each one that is looked up has so many rows read around it. */
const FEW_ROWS = 'index_granularity = 256';
const PER_DAY = 'PARTITION BY intDiv(receivedAt, 86400000)';

/** The tables of the dead letters, in the order in which days of them are dropped. */
const LETTERS: Readonly<Record<string, (engine: Engine) => string>> = {
  // Of letters with one identity, the first one that is not removed counts. What is left of one that gave way is a row with its id.
  letters: (engine) => `(identity String, id UInt128, zoneId Nullable(Int32), receivedAt Int64, source String, topic Nullable(String),
    partition Nullable(Int32), messageOffset Nullable(Int64), itemIndex Nullable(Int64), mapping Nullable(String), isBatch Bool,
    isRecordOnly Bool, reason String, sizeBytes Int64, recordCost Int64, cost Int64, sha256 String, bytes String CODEC(ZSTD(1)))
    ENGINE = ${engine('isRecordOnly')} ${PER_DAY} ORDER BY (identity, id) ${DURABLE}, ${FEW_ROWS}`,
  removed_letters: (engine) => `(identity String, ids Array(UInt128), receivedAt Int64)
    ENGINE = ${engine()} ${PER_DAY} ORDER BY identity ${DURABLE}, ${FEW_ROWS}`,
};

/** Their names. */
export const LETTER_TABLES: readonly string[] = Object.keys(LETTERS);
export const STORE_TABLE_NAMES: readonly string[] = [...Object.keys(STORE_TABLES), ...LETTER_TABLES];

/** The statements that make the tables of the dead letters. */
export function createLetterTables(cluster: Cluster | null): readonly string[] {
  return Object.entries(LETTERS).map(([table, definition]) => createTable(table, cluster, definition));
}

/** The tables that dead letters were in at first, and what they are called while their letters move. */
const EARLIER_LETTERS = [
  ['dead_letters', 'moved_dead_letters'],
  ['removed_dead_letters', 'moved_removed_dead_letters'],
] as const;

/** All of these names, on the way of a migration that was cut, too. */
export const EARLIER_LETTER_TABLES: readonly string[] = EARLIER_LETTERS.flat();

/**
 * The statements that move letters out of the tables of earlier versions and drop these, by which of them are there.
 *
 * A program of an earlier version that runs finds no table under the name that it knows, and stores nothing. An INSERT of its that has
 * begun holds its table, whatever that is called now: DETACH waits for it. A letter has the same id and so the same row however often it
 * is moved. Removed ones stay behind; their table goes last, so that they never move for want of it.
 */
export function moveLetters(cluster: Cluster | null, present: ReadonlySet<string>): readonly string[] {
  const nodes = onCluster(cluster);
  const [[, moved], [, removed]] = EARLIER_LETTERS;
  // A migration has moved all letters before it drops a table.
  if (!EARLIER_LETTERS.every((names) => names.some((name) => present.has(name)))) {
    return dropMovedLetters(cluster, present);
  }
  const origin = 'zoneId, receivedAt, source, topic, partition, messageOffset, itemIndex, isBatch, isRecordOnly, reason, sizeBytes';
  const recordCost = "400 + length(reason) + length(ifNull(topic, ''))";
  return [
    ...EARLIER_LETTERS.map(([name, other]) => `RENAME TABLE IF EXISTS ${name} TO ${other}${nodes}`),
    ...[moved, removed].map((table) => `DETACH TABLE IF EXISTS ${table}${nodes} SYNC`),
    ...[moved, removed].map((table) => `ATTACH TABLE IF NOT EXISTS ${table}${nodes}`),
    ...(cluster === null ? [] : [moved, removed].map((table) => syncReplicasStatement(table, cluster).text)),
    `INSERT INTO letters (id, identity, ${origin}, recordCost, cost, sha256, bytes)
      SELECT bitOr(bitShiftLeft(toUInt128(intDiv(id, 4)), 64), toUInt128(sipHash64(identity))), identity, ${origin},
      ${recordCost}, ${recordCost} + length(bytes), sha256, bytes FROM ${moved} WHERE id NOT IN (SELECT id FROM ${removed})
      SETTINGS max_partitions_per_insert_block = 0`,
    ...(cluster === null ? [] : [syncReplicasStatement('letters', cluster).text]),
    ...dropMovedLetters(cluster, new Set([moved, removed])),
  ];
}

/** The statements that drop tables whose letters have moved: two migrations at once may leave them behind. */
export function dropMovedLetters(cluster: Cluster | null, present: ReadonlySet<string>): readonly string[] {
  const moved = EARLIER_LETTERS.map(([, name]) => name);
  return moved.filter((table) => present.has(table)).map((table) => `DROP TABLE IF EXISTS ${table}${onCluster(cluster)}`);
}

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

/** The statement that gives dead letters the mapping of their record. A program of an earlier version goes on to write letters without. */
export function addLetterMapping(cluster: Cluster | null): string {
  return `ALTER TABLE letters${onCluster(cluster)} ADD COLUMN IF NOT EXISTS mapping Nullable(String) AFTER itemIndex`;
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

import { BATCH_COLUMNS, type BatchColumn } from '../../query/batch-columns.ts';
import { DAY_MS } from '../../query/durations.ts';
import { markOf, PACKED_FIELDS } from '../../query/packed-log.ts';
import { JOURNAL_COLUMNS } from '../columns.ts';
import { type Cluster, onCluster, SHARDED_EVENTS, SHARDING_KEY, tableEngine } from './cluster.ts';
import { WRITER_BITS } from './events.ts';

/** A column of the table of events. */
interface TableColumn {
  readonly name: string;
  readonly definition: string;
}

/** The columns that identify an event, by which the table is sorted; the id is one text here. */
const IDENTITY = ['shieldZoneId', 'timestamp', 'logId'];

/** The parts of an id in a batch. */
const ID_PARTS: readonly BatchColumn[] = ['logIdBytes', 'logIdText'];

/** Texts that few events share have no dictionary. */
const OWN_VALUES: readonly BatchColumn[] = ['ip', 'urlTail'];

const TYPES = { int32: 'Int32', int64: 'Int64', uint64: 'Nullable(UInt64)', bytes: 'String' } as const;

/** The columns of a batch, with the names that they have in a journal. */
const BATCH_TYPES: readonly TableColumn[] = BATCH_COLUMNS.filter(({ name }) => !ID_PARTS.includes(name) && !IDENTITY.includes(name)).map(
  ({ name, type }) => ({ name, definition: type === 'text' ? textType(name) : TYPES[type] }),
);

function textType(name: BatchColumn): string {
  return OWN_VALUES.includes(name) ? 'Nullable(String)' : 'LowCardinality(Nullable(String))';
}

/** The columns that an insert gives. */
const GIVEN: readonly TableColumn[] = [
  { name: 'shieldZoneId', definition: 'Int32' },
  { name: 'timestamp', definition: 'Int64' },
  { name: 'logId', definition: 'String' },
  { name: 'seq', definition: 'Int64' },
  ...BATCH_TYPES,
  { name: 'unfolded', definition: 'Bool' },
  { name: 'packed', definition: 'String CODEC(ZSTD(1))' },
];

/** What is worked out of the others. Of copies of an event the one with the highest `older` stays. */
const WORKED_OUT: readonly TableColumn[] = [
  { name: 'older', definition: 'Int64 MATERIALIZED -"seq"' },
  { name: 'url', definition: 'Nullable(String) ALIAS "urlHead" || "urlTail"' },
  { name: 'zoneText', definition: 'String ALIAS toString("shieldZoneId")' },
  { name: 'log', definition: `String ALIAS ${unpacked()}` },
];

/** The log with the values of its marks. No value that has a mark contains one. */
function unpacked(): string {
  return PACKED_FIELDS.reduce(
    (log, name, nth) => `replaceAll(${log}, char(${markOf(nth).charCodeAt(0)}), ifNull("${name}", ''))`,
    '"packed"',
  );
}

/** The names of the columns that an insert gives, in their order. */
export const INSERTED_COLUMNS: readonly string[] = GIVEN.map(({ name }) => name);

/**
 * The same column as it is selected from a journal file, which ClickHouse reads as it is; `undefined` for `seq` and `packed`, which no
 * such file has.
 */
export function fromJournal(name: string): string | undefined {
  if (name === 'logId') {
    return LOG_ID;
  }
  return name === 'seq' || JOURNAL_COLUMNS.every((column) => column.name !== name) ? undefined : `"${name}"`;
}

const HEX = 'lower(hex("logIdBytes"))';

/** `query/batch-columns.ts` says what the parts of an id hold. */
const LOG_ID = `multiIf("logIdBytes" IS NULL, assumeNotNull("logIdText"), "logIdText" IS NULL, assumeNotNull(${HEX}),
  assumeNotNull(arrayStringConcat([${uuidParts()}], '-')))`;

function uuidParts(): string {
  const parts = [
    [1, 8],
    [9, 4],
    [13, 4],
    [17, 4],
    [21, 12],
  ];
  return parts.map(([from, length]) => `substring(assumeNotNull(${HEX}), ${from}, ${length})`).join(', ');
}

/** Sequences of one minute, by which arrivals are sorted. */
export const MINUTE_OF_SEQUENCES = 60_000_000n << BigInt(WRITER_BITS);

/**
 * Rows that are read together. Events of one minute lie in a few rows of each zone, and the feed reads all those around them: with the
 * usual 8,192 its pages take longer, and searches are as fast with either (`docs/measurements/clickhouse.md`).
 */
const INDEX_GRANULARITY = 1_024;

/** A part that is not merged with others of its partition within this time is merged at last. */
const MERGED_AFTER_SECONDS = 3_600;

export interface EventsTable {
  readonly table: string;
  /** Whose shards have the table, each with events of its own. Default: there is one server. */
  readonly cluster?: Cluster | null;
}

const COLUMNS = [...GIVEN, ...WORKED_OUT].map(({ name, definition }) => `"${name}" ${definition}`);

/**
 * The table through which the events of all shards are read and stored. It has none itself. Its comment says over which shards they are
 * spread, because with others they would be looked for where they are not.
 */
export function createShardedEvents(cluster: Cluster, ofShard: string, shards: string): string {
  const engine = `Distributed('${cluster.name}', '${cluster.database}', '${ofShard}', ${SHARDING_KEY})`;
  return `CREATE TABLE IF NOT EXISTS "${SHARDED_EVENTS}"${onCluster(cluster)} (
  ${COLUMNS.join(',\n  ')}
) ENGINE = ${engine} COMMENT '${shards}'`;
}

/**
 * The table of events. Copies of an event are in one partition and get merged into one. `arrivals` has the events in the order in which
 * they were stored.
 */
export function createEventsTable({ table, cluster = null }: EventsTable): string {
  const arrivals = `SELECT "seq", "shieldZoneId", "timestamp", "logId"
    ORDER BY (intDiv("seq", ${MINUTE_OF_SEQUENCES}), "shieldZoneId", "seq")`;
  return `CREATE TABLE IF NOT EXISTS "${table}"${onCluster(cluster)} (
  ${COLUMNS.join(',\n  ')},
  PROJECTION "arrivals" (${arrivals})
) ENGINE = ${tableEngine(table, cluster, 'shard', '"older"')}
PARTITION BY intDiv("timestamp", ${DAY_MS})
ORDER BY (${IDENTITY.map((name) => `"${name}"`).join(', ')})
SETTINGS index_granularity = ${INDEX_GRANULARITY}, deduplicate_merge_projection_mode = 'rebuild',
  fsync_after_insert = 1, fsync_part_directory = 1,
  min_age_to_force_merge_seconds = ${MERGED_AFTER_SECONDS}, min_age_to_force_merge_on_partition_only = 1`;
}

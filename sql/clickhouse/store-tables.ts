/** What is acknowledged survives a loss of power. Source offsets need not: messages that are read again are the same events. */
const DURABLE = 'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1';

/** The tables of a store beside that of the events. */
export const STORE_TABLES = {
  // The latest row of a partition counts, not the highest offset: a topic may be made anew.
  source_offsets: `(topic String, partition Int32, nextOffset Int64, topicId Nullable(String), writtenAt Int64)
    ENGINE = ReplacingMergeTree(writtenAt) ORDER BY (topic, partition)`,
  // Of letters with one identity, the first one that is not removed counts.
  dead_letters: `(id Int64, identity String, zoneId Nullable(Int32), receivedAt Int64, source String, topic Nullable(String),
    partition Nullable(Int32), messageOffset Nullable(Int64), isBatch Bool, isRecordOnly Bool, reason String, sizeBytes Int64,
    sha256 String, bytes String CODEC(ZSTD(1)))
    ENGINE = MergeTree PARTITION BY intDiv(receivedAt, 86400000) ORDER BY id ${DURABLE}`,
  removed_dead_letters: `(id Int64, receivedAt Int64)
    ENGINE = MergeTree PARTITION BY intDiv(receivedAt, 86400000) ORDER BY id ${DURABLE}`,
  // The highest sequence of a zone that a sweep of the retention removed.
  expired_watermarks: `(shieldZoneId Int32, sweep Int64, seq Int64) ENGINE = MergeTree ORDER BY (shieldZoneId, sweep) ${DURABLE}`,
} as const;

/**
 * The table whose comment is the number of the store, by which its cursors are told from those of others. Of two processes that make it at
 * once, one does.
 */
export const IDENTITY_TABLE = 'store_identity';

export function createIdentityTable(storeId: number): string {
  return `CREATE TABLE IF NOT EXISTS ${IDENTITY_TABLE} (nothing UInt8) ENGINE = Null COMMENT '${storeId}'`;
}

/**
 * The table as one who knows ClickHouse would make it for these questions: sorted by zone and time, one partition a day (that is how old
 * events would be dropped), few-valued texts as dictionaries, addresses as numbers too, ZSTD for what is long. The index finds the few
 * granules that one address is in; the texts that are searched are in every granule of the zone, which no index could leave out.
 */
export const TABLE = 'shieldlog.events';

export const COLUMNS = [
  'shieldZoneId Int32',
  'timestamp Int64',
  'logId String',
  'feature String',
  'ruleId String',
  'ruleName String',
  'ip String',
  'ja4 String',
  'ua String',
  'url String',
  'asn String',
  'country String',
  'action String',
  'log String',
] as const;

export const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  shieldZoneId Int32 CODEC(Delta, ZSTD(1)),
  timestamp Int64 CODEC(DoubleDelta, ZSTD(1)),
  logId String CODEC(ZSTD(1)),
  feature LowCardinality(String),
  ruleId LowCardinality(String),
  ruleName LowCardinality(String),
  ip String CODEC(ZSTD(1)),
  ipNumber IPv6 MATERIALIZED toIPv6OrDefault(ip) CODEC(ZSTD(1)),
  ja4 LowCardinality(String),
  ua LowCardinality(String),
  url String CODEC(ZSTD(1)),
  asn LowCardinality(String),
  country LowCardinality(String),
  action LowCardinality(String),
  log String CODEC(ZSTD(1)),
  INDEX addresses ipNumber TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree PARTITION BY intDiv(timestamp, 86400000) ORDER BY (shieldZoneId, timestamp)`;

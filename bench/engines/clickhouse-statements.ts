import type { AddressRange } from '../../query/address.ts';
import { TEXT_FIELDS, type TextField } from '../../query/event-fields.ts';
import type { GroupsOutput, Predicate, SearchPlan } from '../../query/plan/search-plan.ts';

/**
 * The table as a ClickHouse expert would make it for these searches: sorted by zone and time, one partition a day (by which old events
 * would be dropped), dictionaries for texts with few values, addresses also as numbers, ZSTD for long texts. The index finds the few
 * granules of an address. An index of searched texts would not help, because they are in every granule of the zone.
 */
export const TABLE = 'shieldlog.events';

export const COLUMNS = [
  'shieldZoneId Int32',
  'timestamp Int64',
  'logId String',
  ...TEXT_FIELDS.map((name) => `${name} String`),
  'log String',
];

/** Texts that few events share. */
const OWN_VALUES: readonly TextField[] = ['ip', 'url'];

const TEXT_COLUMNS = TEXT_FIELDS.map((name) => `${name} ${OWN_VALUES.includes(name) ? 'String CODEC(ZSTD(1))' : 'LowCardinality(String)'}`);

export const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  shieldZoneId Int32 CODEC(Delta, ZSTD(1)),
  timestamp Int64 CODEC(DoubleDelta, ZSTD(1)),
  logId String CODEC(ZSTD(1)),
  ${TEXT_COLUMNS.join(',\n  ')},
  ipNumber IPv6 MATERIALIZED toIPv6OrDefault(ip) CODEC(ZSTD(1)),
  log String CODEC(ZSTD(1)),
  INDEX addresses ipNumber TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree PARTITION BY intDiv(timestamp, 86400000) ORDER BY (shieldZoneId, timestamp)`;

/** A table of events, by what its statements have to know of it. */
export interface ClickhouseTable {
  /** What stands behind FROM. */
  readonly from: string;
  /** A text of an event, which is empty where the event lacks it. */
  readonly text: (column: string) => string;
  /** The condition that the address of an event is in a range. */
  readonly inRange: (range: AddressRange) => string;
}

export const EXPERT_TABLE: ClickhouseTable = { from: TABLE, text: (column) => column, inRange: addressRange };

/** The table of the program's own store on ClickHouse, with or without later copies of events. */
export function storeTable({ hasCopies }: { readonly hasCopies: boolean }): ClickhouseTable {
  return { from: `events_local${hasCopies ? '' : ' FINAL'}`, text: (column) => `ifNull(${column}, '')`, inRange: numbersRange };
}

const LOW_BITS = 64n;
const ALL_LOW = 2n ** LOW_BITS - 1n;

/** A range of addresses over two columns of 64 bits. */
function numbersRange({ first, last }: AddressRange): string {
  const [high, lastHigh] = [first >> LOW_BITS, last >> LOW_BITS];
  const [low, lastLow] = [first & ALL_LOW, last & ALL_LOW];
  return high === lastHigh
    ? `(ipHigh = ${high} AND ipLow BETWEEN ${low} AND ${lastLow})`
    : `((ipHigh, ipLow) >= (${high}, ${low}) AND (ipHigh, ipLow) <= (${lastHigh}, ${lastLow}))`;
}

/**
 * Searches of operation 1 as the statements that a ClickHouse expert would write. Texts are quoted literals, because only the workloads of
 * this folder get here.
 */

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const quotedList = (texts: readonly string[]) => texts.map(quoted).join(', ');
const likeText = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('%', '\\%').replaceAll('_', '\\_');

/** The condition on an event as SQL. */
export function predicate(condition: Predicate, table: ClickhouseTable): string {
  const part = (of: Predicate) => predicate(of, table);
  switch (condition.kind) {
    case 'everything':
      return 'true';
    case 'all':
      return condition.of.length === 0 ? 'true' : `(${condition.of.map(part).join(' AND ')})`;
    case 'any':
      return condition.of.length === 0 ? 'false' : `(${condition.of.map(part).join(' OR ')})`;
    case 'equals':
      return condition.folded
        ? `lower(${condition.column}) IN (${quotedList(condition.values.map((value) => value.toLowerCase()))})`
        : `${condition.column} IN (${quotedList(condition.values)})`;
    case 'contains':
      return `positionCaseInsensitiveUTF8(${condition.column}, ${quoted(condition.needle)}) > 0`;
    case 'wildcard':
      return `${condition.column} ILIKE ${quoted(condition.parts.map(likeText).join('%'))}`;
    case 'addressIn':
      return `(${condition.ranges.map(table.inRange).join(' OR ')})`;
    case 'not':
      return `NOT coalesce(${part(condition.of)}, false)`;
    default:
      return condition satisfies never;
  }
}

function addressRange({ first, last }: AddressRange): string {
  return first === last ? `ipNumber = ${ipv6(first)}` : `ipNumber BETWEEN ${ipv6(first)} AND ${ipv6(last)}`;
}

function ipv6(address: bigint): string {
  const groups = Array.from({ length: 8 }, (_, group) => ((address >> BigInt(112 - 16 * group)) & 0xffffn).toString(16));
  return `toIPv6('${groups.join(':')}')`;
}

/** The condition that an event is found by the search, but for its page. */
export function matching({ zones, window, where }: SearchPlan, table: ClickhouseTable): string {
  const inZones = zones === 'all' ? '' : `shieldZoneId IN (${zones.join(', ')}) AND `;
  const inWindow = `${inZones}timestamp >= ${window.fromMs} AND timestamp < ${window.toMs}`;
  return where.kind === 'everything' ? inWindow : `${inWindow} AND ${predicate(where, table)}`;
}

export function countStatement(plan: SearchPlan, table: ClickhouseTable): string {
  return `SELECT count() FROM ${table.from} WHERE ${matching(plan, table)}`;
}

/** Reads in the reverse order of the sorting key, and the log only for the rows of the page. */
export function rowsStatement(plan: SearchPlan, selected: readonly string[], table: ClickhouseTable): string {
  const { index, size } = plan.page;
  return `SELECT ${selected.join(', ')} FROM ${table.from} WHERE ${matching(plan, table)}
    ORDER BY timestamp DESC, logId LIMIT ${size} OFFSET ${index * size}`;
}

/** One page of groups. The answer has the number of all groups as its rows before the limit. */
export function groupPageStatement(plan: SearchPlan, { by }: GroupsOutput, table: ClickhouseTable): string {
  const { index, size } = plan.page;
  const keys = by.join(', ');
  return `SELECT ${keys}, count() AS events FROM ${table.from} WHERE ${matching(plan, table)} GROUP BY ${keys}
    ORDER BY events DESC, ${keys} LIMIT ${size} OFFSET ${index * size} SETTINGS exact_rows_before_limit = 1`;
}

/**
 * The facts about the groups of one page. Columns: the keys, count, first and last time, counts by country, asn and action, features,
 * ruleIds, buckets.
 */
export function groupDetailStatement(
  plan: SearchPlan,
  { by, buckets }: GroupsOutput,
  keys: readonly (readonly string[])[],
  table: ClickhouseTable,
): string {
  const { fromMs, toMs } = plan.window;
  const columns = by.join(', ');
  const wanted = by.length === 1 ? quotedList(keys.map(([key]) => key ?? '')) : keys.map((key) => `(${quotedList(key)})`).join(', ');
  const sparkline = buckets === 0 ? '[]' : `sumMap(map(intDiv((timestamp - ${fromMs}) * ${buckets}, ${toMs - fromMs}), 1))`;
  const { text } = table;
  const counted = ['country', 'asn'].map((name) => `sumMap(map(${text(name)}, 1))`).join(', ');
  return `SELECT ${columns}, count(), min(timestamp), max(timestamp),
    ${counted}, sumMap(map(lower(${text('action')}), 1)), groupUniqArray(feature), groupUniqArray(ruleId),
    ${sparkline} FROM ${table.from}
    WHERE ${matching(plan, table)} AND ${by.length === 1 ? columns : `(${columns})`} IN (${wanted}) GROUP BY ${columns}`;
}

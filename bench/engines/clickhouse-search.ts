import type { AddressRange, Predicate } from '../../query/predicate.ts';
import type { GroupsOutput, SearchPlan } from '../../query/search-plan.ts';
import { TABLE } from './clickhouse-table.ts';

/**
 * A search of operation 1 as the statements one who knows ClickHouse would write. Texts are quoted literals: only our own workloads get
 * here.
 */

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const quotedList = (texts: readonly string[]) => texts.map(quoted).join(', ');
const likeText = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('%', '\\%').replaceAll('_', '\\_');

function predicate(condition: Predicate): string {
  switch (condition.kind) {
    case 'everything':
      return 'true';
    case 'all':
      return condition.of.length === 0 ? 'true' : `(${condition.of.map(predicate).join(' AND ')})`;
    case 'any':
      return condition.of.length === 0 ? 'false' : `(${condition.of.map(predicate).join(' OR ')})`;
    case 'equals':
      return condition.folded
        ? `lower(${condition.column}) IN (${quotedList(condition.values.map((value) => value.toLowerCase()))})`
        : `${condition.column} IN (${quotedList(condition.values)})`;
    case 'contains':
      return `positionCaseInsensitiveUTF8(${condition.column}, ${quoted(condition.needle)}) > 0`;
    case 'wildcard':
      return `${condition.column} ILIKE ${quoted(condition.parts.map(likeText).join('%'))}`;
    case 'addressIn':
      return `(${condition.ranges.map(addressRange).join(' OR ')})`;
    default:
      return condition satisfies never;
  }
}

function addressRange({ first, last }: AddressRange): string {
  return first === last ? `ipNumber = ${ipv6(first)}` : `ipNumber BETWEEN ${ipv6(first)} AND ${ipv6(last)}`;
}

function ipv6(address: bigint): string {
  const groups = Array.from({ length: 8 }, (_, place) => ((address >> BigInt(112 - 16 * place)) & 0xffffn).toString(16));
  return `toIPv6('${groups.join(':')}')`;
}

function matching({ zoneId, window, where }: SearchPlan): string {
  const inZone = `shieldZoneId = ${zoneId} AND timestamp >= ${window.fromMs} AND timestamp < ${window.toMs}`;
  return where.kind === 'everything' ? inZone : `${inZone} AND ${predicate(where)}`;
}

export function countStatement(plan: SearchPlan): string {
  return `SELECT count() FROM ${TABLE} WHERE ${matching(plan)}`;
}

/** Read in the order of the sorting key, backwards; the log only for the rows of the page. */
export function rowsStatement(plan: SearchPlan, selected: readonly string[]): string {
  const { index, size } = plan.page;
  return `SELECT ${selected.join(', ')} FROM ${TABLE} WHERE ${matching(plan)} ORDER BY timestamp DESC, logId LIMIT ${size} OFFSET ${index * size}`;
}

/** The number of all groups comes with the answer as the rows before the limit. */
export function groupPageStatement(plan: SearchPlan, { by }: GroupsOutput): string {
  const { index, size } = plan.page;
  const keys = by.join(', ');
  return `SELECT ${keys}, count() AS events FROM ${TABLE} WHERE ${matching(plan)} GROUP BY ${keys} ORDER BY events DESC, ${keys} LIMIT ${size} OFFSET ${index * size} SETTINGS exact_rows_before_limit = 1`;
}

/**
 * Everything about the groups of one page. Columns: the keys, count, first and last time, counts by country, asn and action, features,
 * ruleIds, buckets.
 */
export function groupDetailStatement(plan: SearchPlan, { by, buckets }: GroupsOutput, keys: readonly (readonly string[])[]): string {
  const { fromMs, toMs } = plan.window;
  const columns = by.join(', ');
  const wanted = by.length === 1 ? quotedList(keys.map(([key]) => key ?? '')) : keys.map((key) => `(${quotedList(key)})`).join(', ');
  const sparkline = buckets === 0 ? '[]' : `sumMap(map(intDiv((timestamp - ${fromMs}) * ${buckets}, ${toMs - fromMs}), 1))`;
  return `SELECT ${columns}, count(), min(timestamp), max(timestamp), sumMap(map(country, 1)), sumMap(map(asn, 1)), sumMap(map(lower(action), 1)), groupUniqArray(feature), groupUniqArray(ruleId), ${sparkline} FROM ${TABLE} WHERE ${matching(plan)} AND ${by.length === 1 ? columns : `(${columns})`} IN (${wanted}) GROUP BY ${columns}`;
}

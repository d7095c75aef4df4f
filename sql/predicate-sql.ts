import type { AddressRange } from '../query/address.ts';
import { lookCost, type SearchedField } from '../query/event-fields.ts';
import type { Predicate, SearchPlan, TimeWindow } from '../query/plan/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, text, trusted, uint64 } from './statement.ts';

/** The condition that an event of the plan's zones in `window` matches the plan's predicate. */
export function matchSql(plan: SearchPlan, window: TimeWindow, dialect: Dialect): SqlFragment {
  const inWindow = sql`${column('timestamp')} >= ${int64(window.fromMs)} AND ${column('timestamp')} < ${int64(window.toMs)}`;
  const inZonesAndWindow = plan.zones === 'all' ? inWindow : sql`${inZones(plan.zones)}\n    AND ${inWindow}`;
  return plan.where.kind === 'everything' ? inZonesAndWindow : sql`${inZonesAndWindow} AND ${predicateSql(plan.where, dialect)}`;
}

/** The condition that an event is of one of these zones, at least one. */
export function inZones(zones: readonly number[]): SqlFragment {
  const [only] = zones;
  return zones.length === 1 && only !== undefined
    ? sql`${column('shieldZoneId')} = ${int32(only)}`
    : sql`${column('shieldZoneId')} IN (${joinSql(zones.map((zone) => sql`${int32(zone)}`))})`;
}

/** The predicate as a boolean expression. It may be NULL, which is no match, if the event lacks a column. */
function predicateSql(predicate: Predicate, dialect: Dialect): SqlFragment {
  switch (predicate.kind) {
    case 'everything':
      return trusted('true');
    case 'all':
      return combine(predicate.of, ' AND ', 'true', dialect);
    case 'any':
      return combine(cheapestFirst(predicate.of), ' OR ', 'false', dialect);
    case 'not':
      return sql`(${predicateSql(predicate.of, dialect)}) IS NOT TRUE`;
    case 'equals':
      return equalsSql(predicate.column, predicate.values, predicate.folded, dialect);
    case 'contains':
      return containsSql(predicate.column, predicate.needle, dialect);
    case 'wildcard':
      return wildcardSql(predicate.column, predicate.parts, dialect);
    case 'addressIn':
      return sql`(${joinSql(predicate.ranges.map(addressRangeSql), ' OR ')})`;
    default:
      return predicate satisfies never;
  }
}

/** Columns of texts that many events share come first. If one of them decides, the costly ones are not read. */
function cheapestFirst(predicates: readonly Predicate[]): Predicate[] {
  const cost = (predicate: Predicate) => ('column' in predicate ? lookCost(predicate.column) : 0);
  return predicates.toSorted((a, b) => cost(a) - cost(b));
}

function combine(predicates: readonly Predicate[], operator: string, neutral: string, dialect: Dialect): SqlFragment {
  if (predicates.length === 0) {
    return trusted(neutral);
  }
  const parts = predicates.map((predicate) => predicateSql(predicate, dialect));
  return parts.length === 1 ? (parts[0] as SqlFragment) : sql`(${joinSql(parts, operator)})`;
}

/**
 * The end of `urlHead`. Conditions on a url use its two parts if they find the same events that way, because many events share a head, and
 * engines test a shared value once. A text without a `?` that a url contains is in one of the parts.
 */
const HEAD_END = '?';

/** The value of the column is one of the alternatives. */
function equalsSql(name: SearchedField, alternatives: readonly string[], folded: boolean, dialect: Dialect): SqlFragment {
  const side = (fragment: SqlFragment) => (folded ? dialect.fold(fragment) : fragment);
  const [only, ...others] = alternatives;
  if (name === 'url' && only !== undefined && others.length === 0) {
    return urlEquals(only, side);
  }
  const bound = alternatives.map((alternative) => side(sql`${text(alternative)}`));
  const value = side(column(name));
  return bound.length === 1 ? sql`${value} = ${bound[0] as SqlFragment}` : sql`${value} IN (${joinSql(bound)})`;
}

/** The folded column contains the folded needle. */
function containsSql(name: SearchedField, needle: string, dialect: Dialect): SqlFragment {
  const folded = dialect.fold(sql`${text(needle)}`);
  if (name === 'ip') {
    return containsInMixedCase('ip', folded, dialect);
  }
  if (name === 'url' && !needle.includes(HEAD_END)) {
    return sql`(${dialect.contains(dialect.fold(column('urlHead')), folded)} OR ${containsInMixedCase('urlTail', folded, dialect)})`;
  }
  return dialect.contains(dialect.fold(column(name)), folded);
}

/** The same for columns with mostly lower-case values that few events share: it folds only those that need it. */
function containsInMixedCase(name: 'ip' | 'urlTail', folded: SqlFragment, dialect: Dialect): SqlFragment {
  const asItIs = dialect.contains(column(name), folded);
  return sql`(${asItIs} OR (${column('unfolded')} AND ${dialect.contains(dialect.fold(column(name)), folded)}))`;
}

/**
 * The folded column consists of the folded `parts`, the literal runs between the stars, in their order with anything in between. Engines
 * run the functions for common shapes faster than LIKE.
 */
export function wildcardSql(name: SearchedField, parts: readonly string[], dialect: Dialect): SqlFragment {
  const folded = dialect.fold(column(name));
  const needle = (part: string) => dialect.fold(sql`${text(part)}`);
  const [first = '', middle = '', last = ''] = parts;
  if (parts.length === 1) {
    return name === 'url' ? urlEquals(first, dialect.fold) : sql`${folded} = ${needle(first)}`;
  }
  if (parts.every((part) => part === '')) {
    return sql`${column(name)} IS NOT NULL`;
  }
  if (parts.length === 2 && middle === '') {
    return startsWithSql(name, first, dialect);
  }
  if (parts.length === 2 && first === '') {
    return dialect.endsWith(folded, needle(middle));
  }
  if (parts.length === 3 && first === '' && last === '') {
    return containsSql(name, middle, dialect);
  }
  const whole = dialect.wildcard(folded, parts);
  return name === 'url' ? sql`(${joinSql([...partsInUrl(parts, dialect), whole], ' AND ')})` : whole;
}

function startsWithSql(name: SearchedField, prefix: string, dialect: Dialect): SqlFragment {
  const tested = name === 'url' && !prefix.includes(HEAD_END) ? 'urlHead' : name;
  return dialect.startsWith(dialect.fold(column(tested)), dialect.fold(sql`${text(prefix)}`));
}

/** Parts of a wildcard that are tested in the parts of a url. More make the statement longer, and the longest exclude the most urls. */
const MAX_TESTED_PARTS = 3;

/** Conditions that exclude most urls before the url is concatenated: it contains the longest parts and starts with the first. */
function partsInUrl([first = '', ...others]: readonly string[], dialect: Dialect): SqlFragment[] {
  const isInOnePart = (part: string) => part !== '' && !part.includes(HEAD_END);
  const longest = [...new Set(others.filter(isInOnePart))].toSorted((a, b) => b.length - a.length).slice(0, MAX_TESTED_PARTS);
  return [
    ...(isInOnePart(first) ? [startsWithSql('url', first, dialect)] : []),
    ...longest.map((part) => containsSql('url', part, dialect)),
  ];
}

/** A url as its `urlHead` and `urlTail`. */
export function splitUrl(url: string): [head: string, tail: string] {
  const end = url.indexOf(HEAD_END) + 1 || url.length;
  return [url.slice(0, end), url.slice(end)];
}

function urlEquals(url: string, side: (fragment: SqlFragment) => SqlFragment): SqlFragment {
  const [head, tail] = splitUrl(url);
  const same = (name: 'urlHead' | 'urlTail', part: string) => sql`${side(column(name))} = ${side(sql`${text(part)}`)}`;
  return sql`(${same('urlHead', head)} AND ${same('urlTail', tail)})`;
}

const HALF_BITS = 64n;
const LOW_BITS = (1n << HALF_BITS) - 1n;

/**
 * Compares only the upper halves of addresses if the range has all lower halves of them. An upper half of which the range has a part, as
 * the range of `::/0` without IPv4 may at its start or end, gets a condition of its own.
 */
function addressRangeSql({ first, last }: AddressRange): SqlFragment {
  const [firstHigh, lastHigh] = [first >> HALF_BITS, last >> HALF_BITS];
  const [firstLow, lastLow] = [first & LOW_BITS, last & LOW_BITS];
  if (firstHigh === lastHigh) {
    return oneUpperHalf(firstHigh, firstLow, lastLow);
  }
  const [isFirstWhole, isLastWhole] = [firstLow === 0n, lastLow === LOW_BITS];
  const [from, to] = [isFirstWhole ? firstHigh : firstHigh + 1n, isLastWhole ? lastHigh : lastHigh - 1n];
  const parts = [
    ...(isFirstWhole ? [] : [oneUpperHalf(firstHigh, firstLow, LOW_BITS)]),
    ...(from <= to ? [sql`${column('ipHigh')} BETWEEN ${uint64(from)} AND ${uint64(to)}`] : []),
    ...(isLastWhole ? [] : [oneUpperHalf(lastHigh, 0n, lastLow)]),
  ];
  return joinSql(parts, ' OR ');
}

function oneUpperHalf(high: bigint, firstLow: bigint, lastLow: bigint): SqlFragment {
  const isHigh = sql`${column('ipHigh')} = ${uint64(high)}`;
  if (firstLow === 0n && lastLow === LOW_BITS) {
    return isHigh;
  }
  const low = column('ipLow');
  return firstLow === lastLow
    ? sql`(${isHigh} AND ${low} = ${uint64(firstLow)})`
    : sql`(${isHigh} AND ${low} BETWEEN ${uint64(firstLow)} AND ${uint64(lastLow)})`;
}

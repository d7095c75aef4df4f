import type { AddressRange, Predicate } from '../query/predicate.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { joinSql, type SqlFragment, sql, trusted, uint64 } from './fragment.ts';
import { containsSql, equalsSql, wildcardSql } from './text-match.ts';

/** In the order of what it costs to look at them; the others cost less. */
const COSTLY_COLUMNS: readonly string[] = ['ja4', 'ua', 'ip', 'url'];

const HALF_BITS = 64n;
const LOW_BITS = (1n << HALF_BITS) - 1n;

/** The predicate as a boolean SQL expression; NULL (column missing) counts as no match. */
export function predicateSql(predicate: Predicate, dialect: Dialect): SqlFragment {
  switch (predicate.kind) {
    case 'everything':
      return trusted('true');
    case 'all':
      return combine(predicate.of, ' AND ', 'true', dialect);
    case 'any':
      return combine(cheapestFirst(predicate.of), ' OR ', 'false', dialect);
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

/** Texts that many events share first: where one of them decides, the long ones are not looked at. */
function cheapestFirst(predicates: readonly Predicate[]): Predicate[] {
  const cost = (predicate: Predicate) => ('column' in predicate ? COSTLY_COLUMNS.indexOf(predicate.column) : 0);
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
 * The upper halves are compared alone where a range has all their lower halves: `::/0` without IPv4 is not aligned, so it may begin or end
 * in the middle of an upper half, which is then tested by itself.
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

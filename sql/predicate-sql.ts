import type { AddressRange, Predicate } from '../query/predicate.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { joinSql, type SqlFragment, sql, trusted, uint64 } from './fragment.ts';
import { containsSql, equalsSql, wildcardSql } from './text-match.ts';

/** In the order of what it costs to look at them; the others cost less. */
const COSTLY_COLUMNS: readonly string[] = ['ja4', 'ua', 'ip', 'url'];

const LOW_BITS = (1n << 64n) - 1n;

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

/** A range that spans several upper halves is aligned (a CIDR of /64 or shorter), so its lower halves need no test. */
function addressRangeSql({ first, last }: AddressRange): SqlFragment {
  const [firstHigh, lastHigh] = [first >> 64n, last >> 64n];
  const high = column('ipHigh');
  if (firstHigh !== lastHigh) {
    return sql`${high} BETWEEN ${uint64(firstHigh)} AND ${uint64(lastHigh)}`;
  }
  const [firstLow, lastLow] = [first & LOW_BITS, last & LOW_BITS];
  const low = column('ipLow');
  if (firstLow === 0n && lastLow === LOW_BITS) {
    return sql`${high} = ${uint64(firstHigh)}`;
  }
  if (firstLow === lastLow) {
    return sql`(${high} = ${uint64(firstHigh)} AND ${low} = ${uint64(firstLow)})`;
  }
  return sql`(${high} = ${uint64(firstHigh)} AND ${low} BETWEEN ${uint64(firstLow)} AND ${uint64(lastLow)})`;
}

import type { AddressRange, Predicate } from '../query/predicate.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { joinSql, type SqlFragment, sql, text, trusted, uint64 } from './fragment.ts';

const LOW_BITS = (1n << 64n) - 1n;

/** The predicate as a boolean SQL expression; NULL (column missing) counts as no match. */
export function predicateSql(predicate: Predicate, dialect: Dialect): SqlFragment {
  switch (predicate.kind) {
    case 'everything':
      return trusted('true');
    case 'all':
      return combine(predicate.of, ' AND ', 'true', dialect);
    case 'any':
      return combine(predicate.of, ' OR ', 'false', dialect);
    case 'equals':
      return equalsSql(column(predicate.column), predicate.values, predicate.folded, dialect);
    case 'contains':
      return dialect.contains(dialect.fold(column(predicate.column)), dialect.fold(sql`${text(predicate.needle)}`));
    case 'wildcard':
      return wildcardSql(column(predicate.column), predicate.parts, dialect);
    case 'addressIn':
      return sql`(${joinSql(predicate.ranges.map(addressRangeSql), ' OR ')})`;
    default:
      return predicate satisfies never;
  }
}

function combine(predicates: readonly Predicate[], operator: string, neutral: string, dialect: Dialect): SqlFragment {
  if (predicates.length === 0) {
    return trusted(neutral);
  }
  const parts = predicates.map((predicate) => predicateSql(predicate, dialect));
  return parts.length === 1 ? (parts[0] as SqlFragment) : sql`(${joinSql(parts, operator)})`;
}

function equalsSql(value: SqlFragment, alternatives: readonly string[], folded: boolean, dialect: Dialect): SqlFragment {
  const side = (fragment: SqlFragment) => (folded ? dialect.fold(fragment) : fragment);
  const bound = alternatives.map((alternative) => side(sql`${text(alternative)}`));
  return bound.length === 1 ? sql`${side(value)} = ${bound[0] as SqlFragment}` : sql`${side(value)} IN (${joinSql(bound, ', ')})`;
}

/**
 * The common shapes have functions of their own, which engines run faster than LIKE. `parts` are the literal runs between the stars.
 */
function wildcardSql(value: SqlFragment, parts: readonly string[], dialect: Dialect): SqlFragment {
  const folded = dialect.fold(value);
  const needle = (part: string) => dialect.fold(sql`${text(part)}`);
  const [first = '', middle = '', last = ''] = parts;
  if (parts.length === 1) {
    return sql`${folded} = ${needle(first)}`;
  }
  if (parts.every((part) => part === '')) {
    return sql`${value} IS NOT NULL`;
  }
  if (parts.length === 2 && middle === '') {
    return dialect.startsWith(folded, needle(first));
  }
  if (parts.length === 2 && first === '') {
    return dialect.endsWith(folded, needle(middle));
  }
  if (parts.length === 3 && first === '' && last === '') {
    return dialect.contains(folded, needle(middle));
  }
  return dialect.wildcard(folded, parts);
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

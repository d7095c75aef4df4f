import { type AddressRange, joinedRanges } from '../query/address.ts';
import { column } from './columns.ts';
import { joinSql, type SqlFragment, sql, textList, trusted, uint64 } from './statement.ts';

const HALF_BITS = 64n;
const LOW_BITS = (1n << HALF_BITS) - 1n;

/** The address of the event is in one of the ranges, each of which is a condition. */
export function anyOfRanges(ranges: readonly AddressRange[]): SqlFragment {
  return sql`(${joinSql(ranges.map(addressRangeSql), ' OR ')})`;
}

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

/** Numbers, both ends included. */
interface NumberRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Ranges of addresses by what has to be compared. */
interface SplitRanges {
  /** Ranges of upper halves, with all lower halves of each. */
  readonly highs: NumberRange[];
  /** Ranges of lower halves under the upper half 0, which IPv4 has. */
  readonly lows: NumberRange[];
  /** Ranges of addresses under other upper halves. */
  readonly wholes: NumberRange[];
}

/** The address of the event is in one of the ranges, among which ClickHouse searches. It takes 5,000 of them in the time of a few. */
export function manyRanges(ranges: readonly AddressRange[]): SqlFragment {
  const split: SplitRanges = { highs: [], lows: [], wholes: [] };
  for (const range of joinedRanges(ranges)) {
    addSplit(range, split);
  }
  const [high, low] = [column('ipHigh'), column('ipLow')];
  const conditions = [
    ...(split.highs.length === 0 ? [] : [isInRanges(high, 'UInt64', split.highs)]),
    ...(split.lows.length === 0 ? [] : [sql`(${high} = ${uint64(0n)} AND ${isInRanges(low, 'UInt64', split.lows)})`]),
    ...(split.wholes.length === 0 ? [] : [isInRanges(WHOLE_ADDRESS, WHOLE_TYPE, split.wholes)]),
  ];
  return sql`(${joinSql(conditions, ' OR ')})`;
}

function addSplit({ first, last }: AddressRange, { highs, lows, wholes }: SplitRanges): void {
  const [firstHigh, lastHigh] = [first >> HALF_BITS, last >> HALF_BITS];
  const from = (first & LOW_BITS) === 0n ? firstHigh : firstHigh + 1n;
  const to = (last & LOW_BITS) === LOW_BITS ? lastHigh : lastHigh - 1n;
  const addPart = (part: NumberRange): void => {
    (part.last >> HALF_BITS === 0n ? lows : wholes).push(part);
  };
  if (from > to) {
    // At most two upper halves, of which the range has a part each.
    for (const high of new Set([firstHigh, lastHigh])) {
      addPart({ first: high === firstHigh ? first : high << HALF_BITS, last: high === lastHigh ? last : (high << HALF_BITS) + LOW_BITS });
    }
    return;
  }
  if (from > firstHigh) addPart({ first, last: (from << HALF_BITS) - 1n });
  highs.push({ first: from, last: to });
  if (to < lastHigh) addPart({ first: lastHigh << HALF_BITS, last });
}

/** `roundDown` knows no integers of 128 bits. */
const WHOLE_TYPE = 'Decimal(76, 0)';
const HALF = trusted(`toDecimal256('${1n << HALF_BITS}', 0)`);
const WHOLE_ADDRESS = sql`toDecimal256(${column('ipHigh')}, 0) * ${HALF} + ${column('ipLow')}`;

/**
 * The value is in one of the ranges, which are ascending and do not touch. It is rounded down to where the next lower range begins or, on
 * one, ends, by a binary search.
 */
function isInRanges(value: SqlFragment, type: string, ranges: readonly NumberRange[]): SqlFragment {
  const starts = ranges.map(({ first }) => first);
  const ends = ranges.map(({ last }) => last + 1n).filter((end) => end !== LOW_BITS + 1n);
  // A value below all bounds would be rounded up to the first of them.
  const bounds = new Set([0n, ...starts, ...ends]);
  const ofType = (numbers: Iterable<bigint>) => sql`CAST(${textList(Array.from(numbers, String))}, 'Array(${trusted(type)})')`;
  return sql`roundDown(${value}, ${ofType(bounds)}) IN ${ofType(starts)}`;
}

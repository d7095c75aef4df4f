import type { AddressRange } from '../query/address.ts';
import { foldText } from '../query/match/match-event.ts';
import { anyOfRanges, manyRanges } from './address-sql.ts';
import { foldTextFunction } from './fold-text.ts';
import {
  int32,
  joinSql,
  renderSql,
  type SqlFragment,
  type SqlParam,
  type SqlStatement,
  type SqlType,
  sql,
  text,
  textList,
  trusted,
} from './statement.ts';

/** The parts of a statement that engines write differently. Everything else is written once, in SQL that all engines understand. */
export interface Dialect {
  readonly name: string;
  /** The nth parameter, from 1. */
  placeholder(param: SqlParam, index: number): string;
  /** Lower case, code point by code point, the same for column and needle. `foldText` of `query/match/match-event.ts` does the same. */
  fold(value: SqlFragment): SqlFragment;
  /** A text in the same lower case. */
  folded(value: string): SqlFragment;
  /** True if the value, which is folded if `areFolded`, is one of the alternatives, at least one. */
  isOneOf(value: SqlFragment, alternatives: readonly string[], areFolded: boolean): SqlFragment;
  /** True if the value, of 32 bits, is one of the numbers, at least one. */
  isOneOfNumbers(value: SqlFragment, numbers: readonly number[]): SqlFragment;
  /** True if `haystack` has `needle` somewhere; nothing in the needle is special. */
  contains(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  startsWith(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  endsWith(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  /** True if the folded `value` consists of the `parts`, folded, in their order with anything in between. Takes time linear in both. */
  wildcard(value: SqlFragment, parts: readonly string[]): SqlFragment;
  /** Integer division of two non-negative integers, rounded down. */
  divide(dividend: SqlFragment, divisor: SqlFragment): SqlFragment;
  /** The remainder of the division of any integer by a positive one, which is never negative. */
  positiveModulo(dividend: SqlFragment, divisor: SqlFragment): SqlFragment;
  /** True if the address of the event is in one of the ranges, at least one. */
  addressIn(ranges: readonly AddressRange[]): SqlFragment;
}

export const duckdbDialect: Dialect = {
  name: 'duckdb',
  placeholder: (_param, index) => `$${index}`,
  fold,
  folded: (value) => fold(sql`${text(value)}`),
  isOneOf,
  isOneOfNumbers: (value, numbers) => sql`${value} IN (${joinSql(numbers.map((number) => sql`${int32(number)}`))})`,
  contains: (haystack, needle) => sql`contains(${haystack}, ${needle})`,
  startsWith: (haystack, needle) => sql`starts_with(${haystack}, ${needle})`,
  endsWith: (haystack, needle) => sql`ends_with(${haystack}, ${needle})`,
  wildcard,
  divide: (dividend, divisor) => sql`${dividend} // ${divisor}`,
  positiveModulo: (dividend, divisor) => sql`((${dividend} % ${divisor}) + ${divisor}) % ${divisor}`,
  addressIn: anyOfRanges,
};

function fold(value: SqlFragment): SqlFragment {
  return sql`lower(${value})`;
}

function isOneOf(value: SqlFragment, alternatives: readonly string[], areFolded: boolean): SqlFragment {
  const bound = alternatives.map((one) => (areFolded ? fold(sql`${text(one)}`) : sql`${text(one)}`));
  return bound.length === 1 ? sql`${value} = ${bound[0] as SqlFragment}` : sql`${value} IN (${joinSql(bound)})`;
}

/** What a LIKE of DuckDB does not take as itself. A NUL is its escape character where the statement names none. */
const LIKE_SPECIALS = ['%', '_', '\0'];

/**
 * DuckDB matches a LIKE of literal runs and `%` run by run. With `_`, a NUL or an ESCAPE clause it tries all combinations of positions,
 * which does not end on a dozen stars. So a literal `%`, `_` or NUL becomes a capital letter on both sides, of which folded text has none.
 * `wildcardSearch` in `query/match/wildcard-search.ts` does the same.
 */
function wildcard(folded: SqlFragment, parts: readonly string[]): SqlFragment {
  const pattern = fold(sql`${text(parts.join('*'))}`);
  return parts.some((part) => LIKE_SPECIALS.some((letter) => part.includes(letter)))
    ? sql`translate(${folded}, '%_' || chr(0), 'PUN') LIKE translate(${pattern}, '*%_' || chr(0), '%PUN')`
    : sql`${folded} LIKE replace(${pattern}, '*', '%')`;
}

/** A statement that only the DuckDB store runs. */
export function duckdbStatement(fragment: SqlFragment): SqlStatement {
  return renderSql(fragment, duckdbDialect);
}

const CLICKHOUSE_TYPES: Readonly<Record<SqlType, string>> = {
  VARCHAR: 'String',
  'VARCHAR[]': 'Array(String)',
  INTEGER: 'Int32',
  BIGINT: 'Int64',
  UBIGINT: 'UInt64',
};

/**
 * Folds what is bound before it is sent: a call of the function of {@link foldTextFunction} is written out wherever it stands, with all
 * letters that it knows.
 */
export const clickhouseDialect: Dialect = {
  name: 'clickhouse',
  placeholder: ({ type }, index) => `{p${index}:${CLICKHOUSE_TYPES[type]}}`,
  fold: (value) => sql`${trusted(foldTextFunction().name)}(${value})`,
  folded: (value) => sql`${text(foldText(value))}`,
  isOneOf: (value, alternatives, areFolded) => {
    const [only = '', ...others] = areFolded ? alternatives.map(foldText) : alternatives;
    return others.length === 0 ? sql`${value} = ${text(only)}` : sql`${value} IN ${textList([only, ...others])}`;
  },
  isOneOfNumbers: (value, numbers) => sql`${value} IN CAST(${textList(numbers.map(String))}, 'Array(Int32)')`,
  contains: (haystack, needle) => sql`position(${haystack}, ${needle}) > 0`,
  startsWith: (haystack, needle) => sql`startsWith(${haystack}, ${needle})`,
  endsWith: (haystack, needle) => sql`endsWith(${haystack}, ${needle})`,
  wildcard: (folded, parts) => sql`${folded} LIKE ${text(parts.map((part) => likeText(foldText(part))).join('%'))}`,
  divide: (dividend, divisor) => sql`intDiv(${dividend}, ${divisor})`,
  positiveModulo: (dividend, divisor) => sql`positiveModulo(${dividend}, ${divisor})`,
  addressIn: (ranges) => (ranges.length <= FEW_RANGES ? anyOfRanges(ranges) : manyRanges(ranges)),
};

/** So many ranges are compared one by one, which takes less time than a search among them. */
const FEW_RANGES = 8;

/** A text in which nothing is special to LIKE. */
function likeText(literal: string): string {
  return literal.replaceAll(/[\\%_]/g, String.raw`\$&`);
}

/** A statement that only the ClickHouse store runs. */
export function clickhouseStatement(fragment: SqlFragment): SqlStatement {
  return renderSql(fragment, clickhouseDialect);
}

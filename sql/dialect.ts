import type { SqlFragment, SqlParam } from './fragment.ts';

/** What differs from engine to engine; everything else is written once, in the SQL that both understand. */
export interface Dialect {
  readonly name: string;
  placeholder(param: SqlParam, position: number): string;
  /** Lower case, code point by code point, the same for column and needle. */
  fold(value: SqlFragment): SqlFragment;
  /** True where `haystack` has `needle` somewhere; nothing in the needle is special. */
  contains(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  startsWith(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  endsWith(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  /** True where the folded `value` is made of the `parts`, folded, in their order with anything in between; in time linear in both. */
  wildcard(value: SqlFragment, parts: readonly string[]): SqlFragment;
  /** Integer division towards negative infinity of two non-negative integers. */
  divide(dividend: SqlFragment, divisor: SqlFragment): SqlFragment;
  /** An aggregate: the texts that are not NULL as the text of a JSON array, in no order; NULL where there are none. */
  listOf(value: SqlFragment): SqlFragment;
}

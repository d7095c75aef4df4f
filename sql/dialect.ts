import { renderSql, type SqlFragment, type SqlParam, type SqlStatement, sql, text } from './statement.ts';

/** The parts of a statement that engines write differently. Everything else is written once, in SQL that all engines understand. */
export interface Dialect {
  readonly name: string;
  /** The nth parameter, from 1. */
  placeholder(param: SqlParam, index: number): string;
  /** Lower case, code point by code point, the same for column and needle. `foldText` of `query/match/match-event.ts` does the same. */
  fold(value: SqlFragment): SqlFragment;
  /** True if `haystack` has `needle` somewhere; nothing in the needle is special. */
  contains(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  startsWith(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  endsWith(haystack: SqlFragment, needle: SqlFragment): SqlFragment;
  /** True if the folded `value` consists of the `parts`, folded, in their order with anything in between. Takes time linear in both. */
  wildcard(value: SqlFragment, parts: readonly string[]): SqlFragment;
  /** Integer division of two non-negative integers, rounded down. */
  divide(dividend: SqlFragment, divisor: SqlFragment): SqlFragment;
  /** An aggregate: the texts that are not NULL as the text of a JSON array, in no order; NULL if there are none. */
  listOf(value: SqlFragment): SqlFragment;
}

export const duckdbDialect: Dialect = {
  name: 'duckdb',
  placeholder: (_param, index) => `$${index}`,
  fold,
  contains: (haystack, needle) => sql`contains(${haystack}, ${needle})`,
  startsWith: (haystack, needle) => sql`starts_with(${haystack}, ${needle})`,
  endsWith: (haystack, needle) => sql`ends_with(${haystack}, ${needle})`,
  wildcard,
  divide: (dividend, divisor) => sql`${dividend} // ${divisor}`,
  listOf: (value) => sql`to_json(list(${value}) FILTER (${value} IS NOT NULL))::VARCHAR`,
};

function fold(value: SqlFragment): SqlFragment {
  return sql`lower(${value})`;
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

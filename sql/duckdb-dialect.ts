import type { Dialect } from './dialect.ts';
import { type SqlFragment, sql, text } from './fragment.ts';

export const duckdbDialect: Dialect = {
  name: 'duckdb',
  placeholder: (_param, position) => `$${position}`,
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

/**
 * LIKE with nothing but literal runs and `%` is matched run by run. With `_` or an ESCAPE clause DuckDB tries every way to place every `%`,
 * which takes for ever on a dozen stars. So a literal `%` or `_` becomes a capital letter on both sides: folded text has none of its own.
 */
function wildcard(folded: SqlFragment, parts: readonly string[]): SqlFragment {
  const pattern = fold(sql`${text(parts.join('*'))}`);
  return parts.some((part) => /[%_]/.test(part))
    ? sql`translate(${folded}, '%_', 'PU') LIKE translate(${pattern}, '*%_', '%PU')`
    : sql`${folded} LIKE replace(${pattern}, '*', '%')`;
}

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
};

function fold(value: SqlFragment): SqlFragment {
  return sql`lower(${value})`;
}

/**
 * A pattern of nothing but literal runs and `%` is matched run by run. With `_` or an ESCAPE clause DuckDB tries every way to place every
 * `%`, which takes for ever on a pattern of a dozen stars; a regular expression does not, since RE2 runs in linear time.
 */
function wildcard(value: SqlFragment, parts: readonly string[]): SqlFragment {
  if (parts.some((part) => /[%_]/.test(part))) {
    const pattern = parts.map((part) => part.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')).join('.*');
    return sql`regexp_full_match(${value}, ${fold(sql`${text(pattern)}`)}, 's')`;
  }
  return sql`${value} LIKE ${fold(sql`${text(parts.join('%'))}`)}`;
}

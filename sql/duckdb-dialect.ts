import type { Dialect } from './dialect.ts';
import { sql } from './fragment.ts';

export const duckdbDialect: Dialect = {
  name: 'duckdb',
  placeholder: (_param, position) => `$${position}`,
  fold: (value) => sql`lower(${value})`,
  contains: (haystack, needle) => sql`contains(${haystack}, ${needle})`,
  startsWith: (haystack, needle) => sql`starts_with(${haystack}, ${needle})`,
  endsWith: (haystack, needle) => sql`ends_with(${haystack}, ${needle})`,
  like: (value, pattern) => sql`${value} LIKE ${pattern} ESCAPE '\\'`,
  divide: (dividend, divisor) => sql`${dividend} // ${divisor}`,
};

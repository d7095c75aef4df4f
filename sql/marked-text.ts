import { type SqlFragment, sql } from './fragment.ts';

/**
 * Text with a mark in front. DuckDB's driver for Node decodes strings with a `TextDecoder`, which drops a byte order mark (U+FEFF) at the
 * start of a value; behind the mark it is not at the start. NULL stays NULL.
 */
export function markText(text: SqlFragment): SqlFragment {
  return sql`'.' || ${text}`;
}

/** The text that was marked in SQL. */
export function unmarkText(marked: string): string {
  return marked.slice(1);
}

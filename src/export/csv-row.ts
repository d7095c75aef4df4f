import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { EventRow } from '../../query/search-result.ts';

const COLUMNS = ['time', 'timestamp', 'logId', ...TEXT_FIELDS, 'log'];

const LINE_END = '\r\n';

/** The names of the columns, with the line end. */
export const CSV_HEADER = `${COLUMNS.join(',')}${LINE_END}`;

/** A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, and some of them trim blanks, tabs and line ends first. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@])/;

const NEEDS_QUOTES = /[",\r\n]/;

/** A cell as RFC 4180 has it. A formula gets a `'` in front; an empty text is `""`, a missing one nothing. */
function cell(text: string | undefined): string {
  if (text === undefined) return '';
  if (text === '') return '""';
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * One record (RFC 4180) with its line end: the time as ISO 8601 and as Unix milliseconds, then the texts, then the log as JSON text.
 * Written here and not by a package, because csv-stringify takes twice as long for it as the store for reading the row.
 */
export function csvRow({ logId, timestamp, logJson, fields }: EventRow): string {
  let record = `${new Date(timestamp).toISOString()},${timestamp},${cell(logId)}`;
  for (const name of TEXT_FIELDS) record += `,${cell(fields[name])}`;
  return `${record},${cell(logJson)}${LINE_END}`;
}

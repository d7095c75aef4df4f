/** A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, and some of them trim blanks, tabs and line ends first. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@])/;

const NEEDS_QUOTES = /[",\r\n]/;

/** Writes a cell by RFC 4180. A formula gets a `'` in front; an empty text is `""`, and a missing one is nothing. */
export function csvCell(text: string | undefined): string {
  if (text === undefined) return '';
  if (text === '') return '""';
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

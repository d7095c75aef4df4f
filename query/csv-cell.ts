import { QUOTE, SPACE } from './json-bytes.ts';

/**
 * A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, East Asian ones also with their full-width forms. Some trim
 * blanks, tabs and line ends first, and LibreOffice drops control characters such as NUL, format characters as a BOM are not seen. One
 * behind `'`s is marked, too, so that no two texts are one cell.
 */
const FORMULA = /^'*(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u;

/** Where a list separator of the language or a TAB may divide cells, too, a cell with one would become two, the second without its `'`. */
const NEEDS_QUOTES = /[",;\t\r\n]/;

/** Writes a cell by RFC 4180. A formula gets a `'` in front; an empty text is `""`, and a missing one is nothing. */
export function csvCell(text: string | undefined): string {
  if (text === undefined) return '';
  if (text === '') return '""';
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes a JSON object, in UTF-8, as the same cell: it is no formula, and divides no cells without a quote or a blank in it. */
export function csvObjectCell(json: Uint8Array): Uint8Array {
  let [quotes, isPlain] = [0, true];
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (byte === QUOTE) quotes += 1;
    else if (byte < SPACE) isPlain = false;
  }
  if (quotes === 0 && isPlain) return json;
  const cell = new Uint8Array(json.length + quotes + 2);
  cell[0] = QUOTE;
  let to = 1;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    cell[to++] = byte;
    if (byte === QUOTE) cell[to++] = QUOTE;
  }
  cell[to] = QUOTE;
  return cell;
}

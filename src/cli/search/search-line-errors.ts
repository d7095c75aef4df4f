import stringWidth from 'string-width';
import type { FieldError } from '../../../query/request/request-errors.ts';
import { printable, searchLinePlaces } from '../../../query/search-line.ts';
import { UsageError } from '../command.ts';
import { ProgramRefusal } from '../program-requests.ts';

/** Columns of a line that are shown around a place in it. */
const SHOWN_BEFORE = 48;
const SHOWN_AFTER = 24;

/** Returns the line, or the part around the place, and below it a caret under the place. Both are safe for a terminal. */
export function caretLines(line: string, position: number): readonly string[] {
  const from = position > SHOWN_BEFORE ? position - SHOWN_BEFORE : 0;
  const to = position + SHOWN_AFTER;
  const before = printable(`${from > 0 ? '…' : ''}${line.slice(from, position)}`);
  const after = printable(`${line.slice(position, to)}${to < line.length ? '…' : ''}`);
  return [`  ${before}${after}`, `  ${' '.repeat(stringWidth(before))}^`];
}

/** The flags of the command line that the fields of a request come from. Those of the search line have none. */
export type FlagsOfFields = Readonly<Record<string, string>>;

/** The most errors that are shown. */
const MAX_SHOWN = 5;

/**
 * Returns the error for what the program says is wrong with a request: each of its errors names the flag that it is about, or shows the
 * place in the search line.
 */
export function refusedRequest(errors: readonly FieldError[], line: string, flags: FlagsOfFields): UsageError {
  const shown = errors.slice(0, MAX_SHOWN).map((error) => shownError(error, line, flags));
  const unshown = errors.length - shown.length;
  const [first = { message: 'the program refuses the request', below: [] }, ...rest] = shown;
  const others = rest.flatMap(({ message, below }) => [`shieldlog: ${printable(message)}`, ...below]);
  return new UsageError(first.message, { below: [...first.below, ...others, ...(unshown > 0 ? [`and ${unshown} more`] : [])] });
}

/** What the program says is wrong with a request, as an error of the command line; any other error comes back as it is. */
export function asCommandError(error: unknown, line: string, flags: FlagsOfFields): unknown {
  const isOfRequest = error instanceof ProgramRefusal && error.status === 400 && error.errors.length > 0;
  return isOfRequest ? refusedRequest(error.errors, line, flags) : error;
}

interface ShownError {
  readonly message: string;
  readonly below: readonly string[];
}

function shownError({ field, message }: FieldError, line: string, flags: FlagsOfFields): ShownError {
  const name = /^[\w-]+/.exec(field)?.[0] ?? '';
  const flag = flags[name];
  if (flag !== undefined) return { message: `${flag} ${name === 'from' || name === 'to' ? withTimes(message) : message}`, below: [] };
  const position = placeOf(field, line);
  if (position === null) return { message: `the search line ${message}`, below: caretLines(line, 0).slice(0, 1) };
  return { message: `character ${position + 1}: ${message}`, below: caretLines(line, position) };
}

/** Writes the times of a message, which has them in Unix milliseconds, so that people can read them. */
function withTimes(message: string): string {
  return message.replaceAll(/-?\d{9,15}/g, (ms) => new Date(Number(ms)).toISOString());
}

/** The index in the line of a value (`filters[0].value[1]`) or clause (`exclude[2]`); null for other fields. */
function placeOf(field: string, line: string): number | null {
  const [, list, clause, value] = /^(filters|exclude)\[(\d+)\](?:\.value\[(\d+)\])?/.exec(field) ?? [];
  if (list !== 'filters' && list !== 'exclude') return null;
  const place = searchLinePlaces(line)[list][Number(clause)];
  return place?.values[Number(value)] ?? place?.position ?? null;
}

import { HOUR_MS } from '../../../query/durations.ts';
import { DIMENSIONS, FREE_TEXT_FIELDS } from '../../../query/event-fields.ts';
import { searchLineNotes } from '../../../query/request/search-line-notes.ts';
import { REACH_HOURS } from '../../../query/search-limits.ts';
import { type LineSearch, parseSearchLine, printable } from '../../../query/search-line.ts';
import { type CommandIo, UsageError } from '../command.ts';
import { duration, optional, pointInTime } from '../flag-values.ts';
import { PROGRAM_FLAGS, PROGRAM_HELP } from '../server-flags.ts';
import { caretLines } from './search-line-errors.ts';

type Flags = Readonly<Record<string, string>>;

/** The flags that name a running program and its zones. */
export const ZONE_FLAGS = [...PROGRAM_FLAGS, 'zone'];

/** The flags that `windowOfFlags` reads. */
export const WINDOW_FLAGS = ['last', 'from', 'to'];

/** The conditions that a search line says. Throws UsageError that shows the place of a fault. */
export function conditionsOfLine(line: string): LineSearch {
  const search = parseSearchLine(line);
  if (!('fault' in search)) return search;
  throw new UsageError(search.fault, { below: caretLines(line, search.position) });
}

/** A zone is a column of tables, and what groups are of, but no field. */
const LIKE_ZONE_FILTER = /^-?(zone|shieldZoneId):/i;

/**
 * Tells on `stderr`, a line each, what the search line says otherwise than it looks, because such a search finds little or nothing. With
 * the `total` of what was found, only what was not told before.
 */
export function tellNotes(command: string, line: string, stderr: CommandIo['stderr'], total?: number): void {
  const told = new Set(total === undefined ? [] : searchLineNotes(line).map(({ note }) => note));
  for (const { words, note } of searchLineNotes(line, total).filter((one) => !told.has(one.note))) {
    const hint = LIKE_ZONE_FILTER.test(words) ? '; --zone chooses the zones' : '';
    stderr.write(`shieldlog ${command}: ${printable(note)}${hint}\n`);
  }
}

/** A window of time, Unix ms: `from` is in it and `to` is not. */
export interface SearchWindow {
  readonly from: number;
  readonly to: number;
}

const REACH_MS = REACH_HOURS * HOUR_MS;

/** The time of `--last` in milliseconds; null without the flag. Throws UsageError. */
export function lastOf(flags: Flags): number | null {
  return optional(flags, 'last', (text) => duration('last', text, REACH_HOURS / 24));
}

/**
 * The window of `--last`, `--from` and `--to`. `--last` reaches back from `--to`, and without `--to` from now. Without `--last`, or where
 * it is as long as a search reaches, the window begins where that reach begins. Throws UsageError, also where the window would be empty.
 */
export function windowOfFlags(flags: Flags, nowMs: number): SearchWindow {
  const to = optional(flags, 'to', (text) => pointInTime('to', text)) ?? nowMs;
  const from = optional(flags, 'from', (text) => pointInTime('from', text));
  if (from !== null && flags['last'] !== undefined) throw new UsageError('--from and --last are both given; allowed: one of them');
  if (from !== null && flags['to'] !== undefined && from >= to) {
    throw new UsageError(
      `--to ${JSON.stringify(flags['to'])} is not allowed; allowed: a time after --from ${JSON.stringify(flags['from'])}`,
    );
  }
  if (from !== null && from >= to) {
    const now = new Date(nowMs).toISOString();
    throw new UsageError(`--from ${JSON.stringify(flags['from'])} is not allowed; allowed: a time before now, which is ${now}`);
  }
  const last = lastOf(flags) ?? REACH_MS;
  if (from === null && to <= nowMs - REACH_MS) {
    const reach = `${new Date(nowMs - REACH_MS).toISOString()}, because a search reaches ${REACH_HOURS} hours back from now`;
    throw new UsageError(`--to ${JSON.stringify(flags['to'])} is not allowed; allowed: a time after ${reach}`);
  }
  // What lies further back is refused, whatever `to` is.
  const earliest = last === REACH_MS ? Math.max(to, nowMs) - last : to - last;
  return { from: from ?? earliest, to };
}

/** The flags that the fields of a request come from, for messages. */
export function flagsOfFields(flags: Flags): Readonly<Record<string, string>> {
  const begin = flags['last'] === undefined ? 'the beginning' : `the beginning of --last ${flags['last']}`;
  return {
    from: flags['from'] === undefined ? begin : '--from',
    to: flags['to'] === undefined ? 'the time of this machine' : '--to',
    shieldZoneId: '--zone',
    groupBy: '--group-by',
    buckets: '--buckets',
    page: '--page',
    pageSize: '--limit',
    'Last-Event-ID': '--after',
  };
}

/** The help text of the search line. */
export const LINE_HELP = `The words of a search are free text and filters; all of them have to match:
  login "sql injection"     texts in one of ${FREE_TEXT_FIELDS.join(', ')}
  action:blocked,challenged one of these values; the fields are ${DIMENSIONS.join(', ')}
  url:*/wp-*.php            a wildcard: * is any run of characters
  url:~admin                the value contains the text
  ip:10.0.0.0/8             the addresses of a network
  -country:DE               not this value: a - before a filter excludes
What the shell keeps together ('sql injection') is a phrase. A whole line in one argument works, too, with quotes of its own
('url:*.php "sql injection"'). Behind -- everything is a word, so -- -h searches for -h.`;

/** The help text of these flags. */
export const ZONE_HELP = `  --zone ZONE[,ZONE…]|all
      The zones that are searched (default all: those that the key opens).
${PROGRAM_HELP}`;

/** The help text of the flags that `windowOfFlags` reads. */
export const WINDOW_HELP = `  --last TIME
      How far back from --to, such as 15m, 1h, 3d (default: as far as a search reaches, which is ${REACH_HOURS}h from now).
  --from TIME, --to TIME
      The window itself: Unix milliseconds, a date (of UTC), or a time with its zone such as 2026-12-01T18:20:00Z. --from is in it, --to
      (default: now) is not.`;

import { parseSearchLine } from '../../../query/search-line.ts';
import { parseCommandLine, UsageError } from '../command.ts';

/** The command line of a command that takes a search line. */
export interface SearchArguments {
  /** Values by name without `--`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly switches: ReadonlySet<string>;
  /** The arguments that are no flags, as one search line. */
  readonly line: string;
}

/**
 * Parses flags, which begin with `--`, and words of the search line, which may begin with a `-` to exclude. Behind `--` every argument is a
 * word. Throws UsageError.
 */
export function parseSearchArguments(
  args: readonly string[],
  flagNames: readonly string[],
  switchNames: readonly string[],
): SearchArguments {
  const given: string[] = [];
  const words: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    const next = args[index + 1];
    if (arg === '--') {
      words.push(...args.slice(index + 1));
      break;
    }
    if (!arg.startsWith('--')) {
      refuseMistypedFlag(arg, [...flagNames, ...switchNames]);
      words.push(arg);
    } else if (flagNames.includes(arg.slice(2)) && next !== undefined && !next.startsWith('--')) {
      given.push(`${arg}=${next}`);
      index += 1;
    } else {
      given.push(arg);
    }
  }
  const { flags, switches } = parseCommandLine(given, flagNames, switchNames);
  return { flags, switches, line: words.map(linePart).filter(Boolean).join(' ') };
}

/** A flag with one dash would be a word that nothing matches. */
function refuseMistypedFlag(arg: string, names: readonly string[]): void {
  if (!arg.startsWith('-') || !names.includes(arg.slice(1))) return;
  throw new UsageError(`'${arg}' would be a word of the search; allowed: the flag -${arg}, or '"${arg}"' for the text`);
}

/**
 * What an argument is in the search line. One with a quote or backslash stands there as it is, and so does one without blanks. What the
 * shell kept together (`'sql injection'`) is a phrase, unless a filter stands behind its first blank: then it is a part of a line. Throws
 * UsageError where it begins with a filter and nothing says whether the words behind its blanks belong to the value.
 */
function linePart(arg: string): string {
  if (/["\\]/.test(arg) || !/\s/.test(arg.trim())) return arg;
  const [first = '', ...rest] = arg.trim().split(/\s+/);
  if (rest.some(isFilter)) return arg;
  if (!isFilter(first)) return `"${arg}"`;
  const [, before = '', value = ''] = /^([^:]*:~?)(.*)$/s.exec(arg.trim()) ?? [];
  throw new UsageError(
    `'${arg}' can be read in two ways; allowed: '${before}"${value}"' for a value with blanks, or an argument for each word`,
  );
}

/** Whether a word without quotes is a filter, be it a wrong one. */
function isFilter(word: string): boolean {
  const search = parseSearchLine(word);
  return 'fault' in search || search.filters.length + search.exclude.length > 0;
}

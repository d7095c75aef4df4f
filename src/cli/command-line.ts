import { parseArgs } from 'node:util';
import { nearestName } from '../config/nearest-name.ts';

/** The command line is wrong; the message is one line that says how. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

interface ParsedArgs {
  /** By name without `--`; of a flag that stands twice, the last. */
  readonly flags: Readonly<Record<string, string>>;
  /** Those of the switches that are there, by name without `--`. */
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** Names the flag that an unknown one was probably meant to be. */
function suggestion(wrong: string, names: readonly string[]): string {
  const given = /^Unknown option '--([^'=]+)'$/.exec(wrong)?.[1];
  const meant = given === undefined ? null : nearestName(given, names, () => 2);
  return meant === null ? '' : `; did you mean --${meant}?`;
}

/**
 * Parses a command's arguments: `--flag value` or `--flag=value` for each of `flagNames`, `--switch` alone for `switchNames`. Throws
 * UsageError.
 */
export function parseCommandLine(args: readonly string[], flagNames: readonly string[], switchNames: readonly string[] = []): ParsedArgs {
  const options: Options = {
    ...Object.fromEntries(flagNames.map((name) => [name, { type: 'string' }])),
    ...Object.fromEntries(switchNames.map((name) => [name, { type: 'boolean' }])),
  };
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const flags = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return { flags: Object.fromEntries(flags), switches: new Set(switchNames.filter((name) => values[name] === true)), positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node explains at length how to pass a positional argument that begins with a dash; the first sentence says what is wrong.
    const wrong = (error.message.split(/\.\s|\n/)[0] ?? error.message).replace(/\.$/, '');
    throw new UsageError(`${wrong}${suggestion(wrong, [...flagNames, ...switchNames])}`, { cause: error });
  }
}

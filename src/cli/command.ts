import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { getSystemErrorMessage, parseArgs } from 'node:util';
import { IntakeError, UnreadableInput } from '../../ingest/upload/intake-report.ts';
import { StoreError } from '../../store/store-error.ts';
import { nearestName } from '../config/misspelled-settings.ts';

/** The surroundings of a command. Data goes to stdout, messages for people to stderr. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** 0 done, 1 failed, 2 wrong usage or configuration; 128 and the number of a signal that ended it before it was done. */
export type ExitStatus = 0 | 1 | 2 | 129 | 130 | 143;

export interface Command {
  /** The text of `--help`, which ends in a newline. */
  help(): string;
  /** Throws UsageError, ConfigError, StoreError, ListenError, DeliveryError or CommandFailed. Any other error is a defect. */
  run(args: readonly string[], io: CommandIo): Promise<ExitStatus>;
}

/** A command failed; the message is one line that says why. Exit status 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** The CommandFailed of a file or stream of events that cannot be read, with its name; any other error as it is. */
export function unreadable(name: string, error: unknown): unknown {
  const { errno } = error as NodeJS.ErrnoException;
  if (error instanceof IntakeError || error instanceof UnreadableInput)
    return new CommandFailed(`${name}: ${error.message}`, { cause: error });
  return errno === undefined ? error : new CommandFailed(`${name} cannot be read: ${getSystemErrorMessage(errno)}`, { cause: error });
}

/** The command line is wrong; the message is one line that says how. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Lines that are shown below the message, such as the place that it is about. They are safe for a terminal. */
  readonly below: readonly string[];

  constructor(message: string, options: ErrorOptions & { readonly below?: readonly string[] } = {}) {
    super(message, options);
    this.below = options.below ?? [];
  }
}

/** The umask of commands that write to DATA_DIR: only the owner may read the events, keys and tokens in it. */
export const OWNER_ONLY = 0o077;

/** Throws StoreError where DATA_DIR, which only `serve` makes, is not there. */
export function requireFolder(dataDir: string): void {
  const wrong = !existsSync(dataDir) ? 'does not exist' : statSync(dataDir).isDirectory() ? null : 'is no folder';
  if (wrong === null) return;
  const what = `DATA_DIR: ${JSON.stringify(resolve(dataDir))} ${wrong}`;
  throw new StoreError('folder_unusable', `${what}; allowed: the folder of a program that was started with shieldlog serve`);
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

interface ParsedArgs {
  /** Values by name without `--`. Of a repeated flag, the last value counts. */
  readonly flags: Readonly<Record<string, string>>;
  /** The given switches, by name without `--`. */
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** Suggests the flag that an unknown one was probably meant to be. */
function suggestion(wrong: string, names: readonly string[]): string {
  const given = /^Unknown option '--([^'=]+)'$/.exec(wrong)?.[1];
  const nearest = given === undefined ? null : nearestName(given, names, () => 2);
  return nearest === null ? '' : `; did you mean --${nearest}?`;
}

/** Parses `--flag value` and `--flag=value` for `flagNames`, and `--switch` for `switchNames`. Throws UsageError. */
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
    // Node goes on about positional arguments that begin with a dash; the first sentence says what is wrong.
    const wrong = (error.message.split(/\.\s|\n/)[0] ?? error.message).replace(/\.$/, '');
    throw new UsageError(`${wrong}${suggestion(wrong, [...flagNames, ...switchNames])}`, { cause: error });
  }
}

/** What an action of a command takes. */
export interface ActionForm {
  /** Its flags, beside those of all actions. */
  readonly flags?: readonly string[];
  /** How many arguments. Default: none. */
  readonly takes?: readonly [least: number, most: number];
  /** Completes the sentence "COMMAND ACTION needs …". */
  readonly needs?: string;
}

/** Parses a command line that begins with an action of the command. Throws UsageError. */
export function parseAction<Action extends string>(
  command: string,
  args: readonly string[],
  actions: Readonly<Record<Action, ActionForm>>,
  flagsOfAll: readonly string[] = [],
): Pick<ParsedArgs, 'flags'> & { readonly action: Action; readonly rest: readonly string[] } {
  const forms: readonly (readonly [string, ActionForm])[] = Object.entries(actions);
  const { flags, positionals } = parseCommandLine(args, [...flagsOfAll, ...forms.flatMap(([, form]) => form.flags ?? [])]);
  const [given, ...rest] = positionals;
  const found = forms.find(([name]) => name === given);
  if (found === undefined) {
    const allowed = `one of ${Object.keys(actions).join(', ')}`;
    throw new UsageError(given === undefined ? `${command} needs ${allowed}` : `'${given}' is not ${allowed}`);
  }
  const [action, { flags: own = [], takes: [least, most] = [0, 0], needs }] = found;
  const foreign = Object.keys(flags).find((flag) => ![...flagsOfAll, ...own].includes(flag));
  if (foreign !== undefined) throw new UsageError(`--${foreign} is not allowed with ${command} ${action}`);
  const needed = `${command} ${action} needs ${needs}`;
  if (rest.length < least) throw new UsageError(needed);
  if (rest.length > most) throw new UsageError(`Unexpected argument '${rest[most]}'${needs === undefined ? '' : `; ${needed}`}`);
  return { action: action as Action, flags, rest };
}

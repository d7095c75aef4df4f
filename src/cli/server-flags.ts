import { readFileSync } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { fileFlagOf, findSettingText, type Texts } from '../config/setting-text.ts';
import { trustIn } from '../sinks/connections.ts';
import type { DeliveryError } from '../sinks/sink.ts';
import { CommandFailed, type CommandIo, UsageError } from './command.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** The URL of a running program, from `--url`. Throws UsageError. */
export function serverUrlOf(text: string | undefined): URL {
  const given = text ?? DEFAULT_URL;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--url "${given}" is not allowed; allowed: a URL such as ${DEFAULT_URL}`);
  }
  return url;
}

/** The address of a path, with its query, of a program that may be served under a path of its own. */
export function addressIn(program: URL, path: string): URL {
  return new URL(`${program.pathname.replace(/\/$/, '')}${path}`, program);
}

/** What helps where a program could not be asked, for the end of a message; null where nothing is known to. */
export function whereToAsk({ message }: DeliveryError, { host }: URL): string | null {
  if (message.startsWith('nothing is listening')) return 'start shieldlog there, or name another program with --url';
  if (message.endsWith('does not speak TLS')) return `for a program without it: --url http://${host}`;
  return message.includes('does not speak HTTP') ? `for a program behind TLS: --url https://${host}` : null;
}

/** A client's secret, with the name of the setting that holds it for messages; null where none is set. Throws UsageError. */
export function clientSecret(
  name: string,
  flag: string | null,
  flags: Texts,
  env: Texts,
): { readonly text: string; readonly setting: string } | null {
  const found = findSettingText({ name, flag, secret: true, judgesEmpty: false }, env, flags);
  if (found.kind === 'refused') throw new UsageError(found.line);
  return found.kind === 'unset' ? null : { text: found.text, setting: found.shownAs };
}

/** The flags that `accessKeyOf` reads. */
export const ACCESS_KEY_FLAGS = ['access-key', fileFlagOf('access-key')];

/** The help text of these flags. */
export const ACCESS_KEY_HELP = `  --access-key KEY, SHIELDLOG_ACCESS_KEY
  --access-key-file FILE, SHIELDLOG_ACCESS_KEY_FILE
      A key of its ACCESS_KEYS, or a file that holds it; not needed where it has none.`;

/**
 * Reads the access key from `--access-key`, SHIELDLOG_ACCESS_KEY, or the file that either names; null where none is set. Messages never
 * show the key. Throws UsageError.
 */
export function accessKeyOf(flags: Texts, env: CommandIo['env']): string | null {
  const found = clientSecret('SHIELDLOG_ACCESS_KEY', 'access-key', flags, env);
  if (found === null) return null;
  const { text, setting } = found;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  const wrong = text === '' ? 'it is empty' : 'it has other characters';
  throw new UsageError(`${setting} is not allowed: ${wrong}; allowed: a key of printable ASCII characters without blanks`);
}

/** The flags that name a running program and what it asks for. */
export const PROGRAM_FLAGS = ['url', ...ACCESS_KEY_FLAGS, 'ca'];

/** The help text of these flags. What is said behind it is said of the key. */
export const PROGRAM_HELP = `  --url URL
      The running program (default ${DEFAULT_URL}).
  --ca FILE
      PEM certificates of authorities to trust beside the usual ones.
${ACCESS_KEY_HELP}`;

/** The authorities of a file of `--ca`; null: the usual ones. Throws CommandFailed. */
export function trustedBy(file: string | null): SecureContext | null {
  if (file === null) return null;
  try {
    return trustIn(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`--ca ${file} has no certificates that can be read: ${(error as Error).message}`, { cause: error });
  }
}

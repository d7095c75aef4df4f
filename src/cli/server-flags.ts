import { fileFlagOf, findSettingText, type Texts } from '../config/setting-text.ts';
import type { CommandIo } from './command.ts';
import { UsageError } from './command-line.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Where a running program is, from `--url`. Throws UsageError. */
export function serverUrlOf(text: string | undefined): URL {
  const given = text ?? DEFAULT_URL;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--url "${given}" is not allowed; allowed: a URL such as ${DEFAULT_URL}`);
  }
  return url;
}

/** The text of a secret of a client, and how messages name it; null where none is given. Throws UsageError. */
export function clientSecret(
  name: string,
  flag: string | null,
  flags: Texts,
  env: Texts,
): { readonly text: string; readonly place: string } | null {
  const found = findSettingText({ name, flag, secret: true, judgesEmpty: false }, env, flags);
  if (found.kind === 'refused') throw new UsageError(found.line);
  return found.kind === 'unset' ? null : found;
}

/** The flags that `accessKeyOf` reads. */
export const ACCESS_KEY_FLAGS = ['access-key', fileFlagOf('access-key')];

/**
 * From `--access-key`, SHIELDLOG_ACCESS_KEY, or the files that these may name; null where none is given. The key itself is never shown.
 * Throws UsageError.
 */
export function accessKeyOf(flags: Texts, env: CommandIo['env']): string | null {
  const found = clientSecret('SHIELDLOG_ACCESS_KEY', 'access-key', flags, env);
  if (found === null) return null;
  const { text, place } = found;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  const wrong = text === '' ? 'it is empty' : 'it has other characters';
  throw new UsageError(`${place} is not allowed: ${wrong}; allowed: a key of printable ASCII characters without blanks`);
}

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

/** Null where none is given; an empty variable counts as unset. The key itself is never shown. Throws UsageError. */
export function accessKeyOf(flag: string | undefined, env: CommandIo['env']): string | null {
  const key = flag ?? (env['SHIELDLOG_ACCESS_KEY'] || undefined);
  if (key === undefined) return null;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const [given, wrong] = [
    flag === undefined ? 'SHIELDLOG_ACCESS_KEY' : '--access-key',
    key === '' ? 'it is empty' : 'it has other characters',
  ];
  throw new UsageError(`${given} is not allowed: ${wrong}; allowed: a key of printable ASCII characters without blanks`);
}

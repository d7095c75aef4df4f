import { accept, type ParsedValue, refuse } from './config-value.ts';

/** The proxies look for steps upwards in the decoded path, and would fail on every request. */
function isPlainPath(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('..');
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** An address without credentials, query or fragment, or the reason why it is refused. */
export function parseUrlSetting(text: string, schemes: readonly string[]): ParsedValue<URL> {
  const url = URL.parse(text);
  if (url === null) return refuse('it is no URL');
  // What stands before the first colon may be a user name, or a key.
  if (!schemes.includes(url.protocol.slice(0, -1))) return refuse(`its scheme is not ${schemes.join(' or ')}`);
  if (url.hostname === '') return refuse('it has no host');
  if (url.username !== '' || url.password !== '')
    return refuse('it holds a user name or a password; a key or token has a variable of its own');
  if (url.search !== '' || url.hash !== '') return refuse('it has a query or a fragment');
  if (!isPlainPath(url.pathname)) return refuse('its path has a % that begins no escape, or .. behind one');
  return accept(url);
}

export const WEB_URL_FORM = 'an http: or https: URL without credentials, query and fragment';

/** An address of HTTP, which may have a path, without a slash at its end; or the reason why it is refused. */
export function parseWebUrl(text: string): ParsedValue<string> {
  const parsed = parseUrlSetting(text, ['http', 'https']);
  return parsed.kind === 'value' ? accept(parsed.value.href.replace(/\/+$/, '')) : parsed;
}

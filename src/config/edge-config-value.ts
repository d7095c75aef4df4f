import { accept, type ParsedValue, refuse } from './config-value.ts';

/** What the operations 2 to 13 may each be answered by: an address, or the local control plane. */
export type UpstreamChoice = { readonly kind: 'url'; readonly url: string } | { readonly kind: 'local' };

/** The proxied operations that are not the database's. */
const FIRST = 2;
const LAST = 13;

/** The proxies would fail on every request: they look for steps upwards in the decoded path. */
function isPlainPath(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('..');
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** An address without credentials, query or fragment, ending without a slash; or why it is none. */
function parseAddress(text: string, schemes: readonly string[]): ParsedValue<URL> {
  const url = URL.parse(text);
  if (url === null) return refuse('it is no URL');
  const scheme = url.protocol.slice(0, -1);
  if (!schemes.includes(scheme)) return refuse(`its scheme is ${scheme}`);
  if (url.hostname === '') return refuse('it has no host');
  if (url.username !== '' || url.password !== '')
    return refuse('it holds a user name or a password; a key or token has a variable of its own');
  if (url.search !== '' || url.hash !== '') return refuse('it has a query or a fragment');
  if (!isPlainPath(url.pathname)) return refuse('its path has a % that begins no escape, or .. behind one');
  return accept(url);
}

export const UPSTREAM_URL_FORM = 'an http: or https: URL without credentials, query and fragment';

/** Parses UPSTREAM_URL. */
export function parseUpstreamUrl(text: string): ParsedValue<string> {
  const parsed = parseAddress(text, ['http', 'https']);
  return parsed.kind === 'value' ? accept(parsed.value.href.replace(/\/+$/, '')) : parsed;
}

export const DATABASE_URL_FORM = 'a libsql:, https: or http: URL without credentials, query and fragment; libsql: is https';

/** Parses SERVICE_DATABASE_URL; a `libsql:` URL is given back as `https:`. */
export function parseDatabaseUrl(text: string): ParsedValue<string> {
  // URL leaves hosts of schemes that it does not know as they are.
  const web = text.replace(/^libsql:/i, 'https:');
  const parsed = parseAddress(web, ['http', 'https']);
  return parsed.kind === 'value' ? accept(parsed.value.href.replace(/\/+$/, '')) : parsed;
}

export const UPSTREAM_OVERRIDES_FORM = `number=URL items separated by commas, number ${FIRST}..${LAST} as in /openapi.json; local instead of a URL is the local control plane`;

/** Parses UPSTREAM_URL_OVERRIDES: `4=https://dns.example,9=local`. */
export function parseUpstreamOverrides(text: string): ParsedValue<ReadonlyMap<number, UpstreamChoice>> {
  const choices = new Map<number, UpstreamChoice>();
  for (const item of text.split(',').map((part) => part.trim())) {
    const [, number = '', target = ''] = /^(\d{1,2})=(.+)$/.exec(item) ?? [];
    const id = Number(number);
    if (number === '' || id < FIRST || id > LAST) return refuse(`an item does not begin with an operation number ${FIRST}..${LAST} and =`);
    if (choices.has(id)) return refuse(`operation ${id} is there twice`);
    if (target === 'local') {
      choices.set(id, { kind: 'local' });
      continue;
    }
    const parsed = parseUpstreamUrl(target);
    if (parsed.kind === 'refused') return refuse(`operation ${id}: ${parsed.why ?? UPSTREAM_URL_FORM}`);
    choices.set(id, { kind: 'url', url: parsed.value });
  }
  return accept(choices);
}

export const CREDENTIAL_FORM = '1 to 4096 printable ASCII characters without blank';

/** Parses a key or token that is to stand in a header. */
export function parseCredential(text: string): ParsedValue<string> {
  return /^[\x21-\x7e]{1,4096}$/.test(text) ? accept(text) : refuse();
}

/** Parses CHALLENGE_RESOLVER_URL. */
export function parseResolverUrl(text: string): ParsedValue<string> {
  const parsed = parseAddress(text, ['http']);
  return parsed.kind === 'value' ? accept(parsed.value.href) : parsed;
}

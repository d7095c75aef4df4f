import { type HostName, hostName } from './host-name.ts';

/**
 * The parts of a URL as they are written: what a shield looks at is not what is left after the dots of a path are resolved and its escapes
 * undone.
 */
export interface UrlParts {
  /** As it was observed, complete or not. */
  readonly original: string;
  /** In small letters. With it there is a host; without it the URL is a path or cannot be taken apart. */
  readonly scheme: string | undefined;
  readonly host: HostName | undefined;
  /** Only where it is written out. */
  readonly port: number | undefined;
  readonly username: string | undefined;
  readonly path: string | undefined;
  /** Without the question mark; empty where nothing follows it. */
  readonly query: string | undefined;
  /** Without the hash mark. */
  readonly fragment: string | undefined;
  /** Of the last part of the path, without the dot. */
  readonly extension: string | undefined;
}

const LARGEST_PORT = 65_535;
const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const SCHEME = /^[a-z][a-z0-9+.-]*$/i;
const EXTENSION = /\.([0-9a-z_-]{1,32})$/i;
const AUTHORITY = /^(?:([^@]*)@)?(\[[^\]]*\]|[^:]*)(?::([0-9]{0,5}))?$/;

const NO_PARTS = {
  scheme: undefined,
  host: undefined,
  port: undefined,
  username: undefined,
  path: undefined,
  query: undefined,
  fragment: undefined,
  extension: undefined,
};

/** What stands between the scheme and the path. */
export interface Authority {
  readonly host: HostName;
  readonly port: number | undefined;
  readonly username: string | undefined;
}

/**
 * Takes `https://host:port/path?query#fragment` and `/path?query` apart. Of anything else, and of a URL whose host is none, only the
 * original is there: whatever is guessed about it would be wrong as often as not.
 */
export function urlParts(original: string, authorityOf: (text: string) => Authority | undefined): UrlParts {
  if (original.startsWith('/') && !original.startsWith('//')) {
    return { ...NO_PARTS, original, ...pathParts(original) };
  }
  const schemeEnd = original.indexOf('://');
  const scheme = original.slice(0, Math.max(0, schemeEnd));
  const authorityEnd = endOfAuthority(original, schemeEnd + 3);
  const authority = SCHEME.test(scheme) ? authorityOf(original.slice(schemeEnd + 3, authorityEnd)) : undefined;
  if (authority === undefined) {
    return { ...NO_PARTS, original };
  }
  const { host, port, username } = authority;
  const { path, query, fragment, extension } = pathParts(original.slice(authorityEnd));
  return { original, scheme: scheme.toLowerCase(), host, port, username, path, query, fragment, extension };
}

function endOfAuthority(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === SLASH || unit === QUESTION_MARK || unit === HASH || unit === BACKSLASH) {
      return index;
    }
  }
  return text.length;
}

/** `user:password@host:port`; undefined where there is no host or the port is none. */
export function parseAuthority(text: string): Authority | undefined {
  const [, userinfo, hostText = '', digits = ''] = AUTHORITY.exec(text) ?? [];
  const host = hostName(hostText);
  const port = digits === '' ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > LARGEST_PORT) {
    return undefined;
  }
  return { host, port, username: userinfo?.split(':', 1)[0] || undefined };
}

function pathParts(text: string): Pick<UrlParts, 'path' | 'query' | 'fragment' | 'extension'> {
  const hash = text.indexOf('#');
  const beforeHash = hash < 0 ? text : text.slice(0, hash);
  const mark = beforeHash.indexOf('?');
  const path = mark < 0 ? beforeHash : beforeHash.slice(0, mark);
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    path: path === '' ? undefined : path,
    query: mark < 0 ? undefined : beforeHash.slice(mark + 1),
    fragment: hash < 0 ? undefined : text.slice(hash + 1),
    extension: name.lastIndexOf('.') > 0 ? EXTENSION.exec(name)?.[1] : undefined,
  };
}

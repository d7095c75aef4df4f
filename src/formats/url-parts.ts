import { parse } from 'tldts';
import { parseAddress } from '../../query/address.ts';
import { BACKSLASH, QUESTION_MARK } from '../../query/json-bytes.ts';

/** The host of a URL. */
export interface HostName {
  /** In lower case; an IPv6 address in its brackets. */
  readonly name: string;
  /** The address without brackets, where the host is one. */
  readonly ip: string | undefined;
  /** Only for a name below a public suffix of ICANN; `localhost` and `shop.example` have none. */
  readonly registeredDomain: string | undefined;
  readonly topLevelDomain: string | undefined;
  /** The labels before the registered domain, if there are any. */
  readonly subdomain: string | undefined;
}

/**
 * The parts of a URL as they are written. Escapes and dot segments stay, because the shield judges the URL as it was sent.
 */
export interface UrlParts {
  /** The text as it was observed, complete or not. */
  readonly original: string;
  /** In lower case. A URL with a scheme has a host; one without is a path, or has no other parts. */
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
  /** The extension of the last segment of the path, without the dot. */
  readonly extension: string | undefined;
}

/** The part of a URL between the scheme and the path. */
export interface Authority {
  readonly host: HostName;
  readonly port: number | undefined;
  readonly username: string | undefined;
}

const MAX_PORT = 65_535;
/** The longest name in DNS. */
const MAX_NAME_LENGTH = 253;
const SLASH = 0x2f;
const HASH = 0x23;
const SCHEME = /^[a-z][a-z0-9+.-]*$/i;
const EXTENSION = /\.([0-9a-z_-]{1,32})$/i;
const AUTHORITY = /^(?:([^@]*)@)?(\[[^\]]*\]|[^:]*)(?::([0-9]{0,5}))?$/;
const NAME = /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._-]*[\p{L}\p{M}\p{N}_.])?$/u;
const SUFFIX_OPTIONS = { extractHostname: false, validateHostname: true, detectIp: false } as const;

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

const NO_DOMAIN = { registeredDomain: undefined, topLevelDomain: undefined, subdomain: undefined };

/**
 * Splits `https://host:port/path?query#fragment` and `/path?query`. Any other text, or a URL with an invalid host, has only `original`:
 * a guess at its parts would often be wrong. `authorityOf` is `parseAuthority` or a cache before it.
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

/** Parses `user:password@host:port`; undefined for an invalid host or port. */
export function parseAuthority(text: string): Authority | undefined {
  const [, userinfo, hostText = '', digits = ''] = AUTHORITY.exec(text) ?? [];
  const host = parseHost(hostText);
  const port = digits === '' ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > MAX_PORT) {
    return undefined;
  }
  return { host, port, username: userinfo?.split(':', 1)[0] || undefined };
}

/** Undefined where the text is neither a name nor an address. */
function parseHost(text: string): HostName | undefined {
  const name = text.toLowerCase();
  const ip = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  if (parseAddress(ip) !== null) {
    // Without brackets, the colons of an address could as well separate a port.
    return ip.includes(':') === (ip !== name) ? { name, ip, ...NO_DOMAIN } : undefined;
  }
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name)) {
    return undefined;
  }
  const { isIcann, domain, publicSuffix, subdomain } = parse(name, SUFFIX_OPTIONS);
  if (isIcann !== true || domain === null || publicSuffix === null) {
    return { name, ip: undefined, ...NO_DOMAIN };
  }
  return { name, ip: undefined, registeredDomain: domain, topLevelDomain: publicSuffix, subdomain: subdomain || undefined };
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

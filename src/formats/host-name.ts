import { parse } from 'tldts';
import { parseAddress } from '../../query/parse-address.ts';

/** What can be said about the host of a URL. */
export interface HostName {
  /** In small letters; an IPv6 address in its brackets. */
  readonly name: string;
  /** The address without brackets, where the host is one. */
  readonly ip: string | undefined;
  /** Of a name below a public suffix; undefined for others, such as `localhost` and `shop.example`. */
  readonly registeredDomain: string | undefined;
  readonly topLevelDomain: string | undefined;
  /** What stands before the registered domain; undefined if that is nothing. */
  readonly subdomain: string | undefined;
}

const NAME = /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._-]*[\p{L}\p{M}\p{N}_.])?$/u;
/** The longest name that DNS has. */
const LONGEST_NAME = 253;
const PARSE_OPTIONS = { extractHostname: false, validateHostname: true, detectIp: false } as const;

/** Undefined where the text is neither a name nor an address. */
export function hostName(text: string): HostName | undefined {
  const name = text.toLowerCase();
  const nothing = { registeredDomain: undefined, topLevelDomain: undefined, subdomain: undefined };
  const ip = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  if (parseAddress(ip) !== null) {
    // An address with colons cannot be told from a host with a port, unless it has brackets.
    return ip.includes(':') === (ip !== name) ? { name, ip, ...nothing } : undefined;
  }
  if (name.length > LONGEST_NAME || !NAME.test(name)) {
    return undefined;
  }
  const { isIcann, domain, publicSuffix, subdomain } = parse(name, PARSE_OPTIONS);
  if (isIcann !== true || domain === null || publicSuffix === null) {
    return { name, ip: undefined, ...nothing };
  }
  return { name, ip: undefined, registeredDomain: domain, topLevelDomain: publicSuffix, subdomain: subdomain || undefined };
}

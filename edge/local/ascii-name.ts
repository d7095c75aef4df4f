import { domainToASCII } from 'node:url';

/** What the URL parser behind `domainToASCII` would decode, drop, cut off or take for a port, before it came to the name itself. */
const NEVER_IN_A_NAME = /[\p{Cc}\p{Zs}%/\\:@?#[\]<>"^|{}*]/u;

/** A name in lower case and ASCII (`xn--` where it was not), without the dot at its end; empty where it is no name at all. */
export function asciiName(text: string): string {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  return NEVER_IN_A_NAME.test(bare) ? '' : domainToASCII(bare);
}

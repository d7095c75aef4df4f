import { domainToASCII } from 'node:url';

/** Characters that the URL parser behind `domainToASCII` would decode, drop, cut off or take for a port. */
const NEVER_IN_A_NAME = /[\p{Cc}\p{Zs}%/\\:@?#[\]<>"^|{}*]/u;

/** A name in lower case and ASCII (`xn--`), without the final dot; empty where it is no name. */
export function asciiName(text: string): string {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  return NEVER_IN_A_NAME.test(bare) ? '' : domainToASCII(bare);
}

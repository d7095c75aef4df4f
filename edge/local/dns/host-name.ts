import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { shown, zoneFault } from './dns-fault.ts';

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

/** What a URL parser would decode, cut off or take for a port, before it came to the name itself. */
const NEVER_IN_A_NAME = /[\p{Cc}\p{Zs}%/\\:@?#[\]<>"^|{}*]/u;

/**
 * A host name as DNS carries it: lower case, ASCII (`xn--` where it was not), without the final dot. Underscores are taken, as in
 * `_sip._tcp`. Throws the fault of `field` for anything else, addresses included.
 */
export function hostName(text: string, field: string): string {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  const ascii = NEVER_IN_A_NAME.test(bare) ? '' : domainToASCII(bare);
  if (isIP(ascii) !== 0) throw zoneFault(field, `${shown(text)} is an address; allowed: a host name such as "www.example.com"`);
  const labels = ascii.split('.');
  if (ascii.length > MAX_NAME_LENGTH || !labels.every(isLabel)) {
    throw zoneFault(
      field,
      `${shown(text)} is not a host name; allowed: labels of 1 to 63 letters, digits, hyphens and underscores, joined by dots, ${MAX_NAME_LENGTH} characters at most`,
    );
  }
  return ascii;
}

function isLabel(label: string): boolean {
  // Punycode that stands for nothing is left as it was.
  return LABEL.test(label) && (!label.startsWith('xn--') || domainToUnicode(label) !== label);
}

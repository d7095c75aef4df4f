import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { shown } from '../../shown-value.ts';
import { asciiName } from '../ascii-name.ts';
import { zoneFault } from './dns-fault.ts';

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

/**
 * A host name as DNS carries it: lower case, ASCII (`xn--` where it was not), without the final dot. Underscores are taken, as in
 * `_sip._tcp`. Throws the fault of `field` for anything else, addresses included.
 */
export function hostName(text: string, field: string): string {
  const ascii = asciiName(text);
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

import { parse } from 'tldts';
import { shown } from '../../shown-value.ts';
import { zoneFault } from './dns-fault.ts';
import { hostName } from './host-name.ts';

/**
 * The domain of a zone as DNS carries it (see `hostName`). Throws for what nobody can own: an address, a single label, a public suffix
 * such as `co.uk`, a name with underscores.
 */
export function zoneDomain(text: string): string {
  const domain = hostName(text, 'Domain');
  if (domain.includes('_')) throw zoneFault('Domain', `${shown(text)} has an underscore; allowed: letters, digits and hyphens`);
  const { domain: registrable, publicSuffix } = parse(domain);
  if (registrable === null) {
    throw zoneFault(
      'Domain',
      `${shown(text)} is ${publicSuffix === domain ? 'a public suffix' : 'not a domain'}; allowed: a name below one, such as "example.com"`,
    );
  }
  return domain;
}

/**
 * The name of a record relative to its zone, as DNS carries it: `''` for the zone itself (also written `@`), `*` as the first label for
 * every name that has no record of its own.
 */
export function recordName(text: string, domain: string, field: string): string {
  if (text === '' || text === '@') return '';
  if (text.endsWith('.')) throw zoneFault(field, `${shown(text)} ends with a dot; allowed: a name relative to ${domain}, such as "www"`);
  if (text === '*') return text;
  const wildcard = text.startsWith('*.') ? '*.' : '';
  const full = hostName(`${text.slice(wildcard.length)}.${domain}`, field);
  return `${wildcard}${full.slice(0, -domain.length - 1)}`;
}

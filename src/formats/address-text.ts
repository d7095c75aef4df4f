import { parseAddress } from '../../query/address.ts';

// An event keeps the text of an address as it came, and searches answer it as it is kept. These are the other forms that formats need.

export type AddressKind = 'ipv4' | 'ipv6' | 'none';

/** The upper bits of `::ffff:0:0/96`, which holds the IPv4 addresses. */
const IPV4_PREFIX = 0xffffn;

/** The kind of an address by the rules of the search: `::ffff:1.2.3.4` is an IPv4 address. */
export function addressKind(text: string): AddressKind {
  const address = parseAddress(text);
  if (address === null) {
    return 'none';
  }
  return address >> 32n === IPV4_PREFIX ? 'ipv4' : 'ipv6';
}

/** An IPv4 address, in any form, as a dotted quad. */
export function dottedQuad(ipv4: string): string {
  if (!ipv4.includes(':')) {
    return ipv4;
  }
  const number = Number((parseAddress(ipv4) ?? 0n) & 0xffff_ffffn);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}

/** The maximum length of an address in OCSF. */
const OCSF_ADDRESS_LENGTH = 40;

/** An address as it came, or expanded where it is too long for OCSF. */
export function ocsfAddress(text: string): string {
  return text.length > OCSF_ADDRESS_LENGTH ? expandedAddress(text) : text;
}

/** An address, in any form, as eight groups of four hexadecimal digits: 39 characters. Any other text stays as it is. */
export function expandedAddress(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : (address.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
}

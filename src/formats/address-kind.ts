import { parseAddress } from '../../query/parse-address.ts';

export type AddressKind = 'ipv4' | 'ipv6' | 'none';

/** What `::ffff:0:0/96` puts in front of an IPv4 address. */
const IPV4_PREFIX = 0xffffn;

/** Whether a text is an address, by the rules that the search goes by: `::ffff:1.2.3.4` is an IPv4 address. */
export function addressKind(text: string): AddressKind {
  const address = parseAddress(text);
  if (address === null) {
    return 'none';
  }
  return address >> 32n === IPV4_PREFIX ? 'ipv4' : 'ipv6';
}

/** An IPv4 address as a dotted quad, however it was written. */
export function dottedQuad(ipv4: string): string {
  if (!ipv4.includes(':')) {
    return ipv4;
  }
  const number = Number((parseAddress(ipv4) ?? 0n) & 0xffff_ffffn);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}

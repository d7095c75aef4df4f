import { parseAddress } from './parse-address.ts';
import type { AddressRange } from './predicate.ts';

const ADDRESS_BITS = 128;

/** The bits that `::ffff:0:0/96` puts in front of an IPv4 address. */
const IPV4_OFFSET = 96;

/**
 * The addresses of a CIDR range: `10.0.0.0/8`, `2001:db8::/32`, or one bare address. Host bits may be set. An IPv4 range lies in
 * `::ffff:0:0/96`, so its `::ffff:` form is in it too. Text that is no range comes back as the reason why.
 */
export function parseCidr(text: string): AddressRange | { readonly fault: string } {
  const slash = text.indexOf('/');
  const addressText = slash === -1 ? text : text.slice(0, slash);
  const address = parseAddress(addressText);
  if (address === null) {
    return { fault: 'is no IPv4 or IPv6 address with an optional prefix length, such as 10.0.0.0/8 or 2001:db8::/32' };
  }
  const isIpv4 = !addressText.includes(':');
  const longest = isIpv4 ? ADDRESS_BITS - IPV4_OFFSET : ADDRESS_BITS;
  const prefix = slash === -1 ? longest : parsePrefix(text.slice(slash + 1));
  if (prefix === null || prefix > longest) {
    return { fault: `needs a prefix length of 0 to ${longest} in decimal digits` };
  }
  const hostBits = BigInt(longest - prefix);
  const first = (address >> hostBits) << hostBits;
  return { first, last: first | ((1n << hostBits) - 1n) };
}

function parsePrefix(text: string): number | null {
  return /^(0|[1-9][0-9]{0,2})$/.test(text) ? Number(text) : null;
}

import { parseAddress } from './parse-address.ts';
import type { AddressRange } from './predicate.ts';

const ADDRESS_BITS = 128;

/** The bits that `::ffff:0:0/96` puts in front of an IPv4 address. */
const IPV4_OFFSET = 96;

/** `::ffff:0:0/96`, where IPv4 addresses lie. */
const IPV4: AddressRange = { first: 0xffff_0000_0000n, last: 0xffff_ffff_ffffn };

/**
 * The addresses of a CIDR range: `10.0.0.0/8`, `2001:db8::/32`, or one bare address. Host bits may be set. Families are not mixed: an IPv6
 * range around all of `::ffff:0:0/96`, such as `::/0`, comes back as what lies on either side of it. Text that is no range comes back as
 * the reason why.
 */
export function parseCidr(text: string): readonly AddressRange[] | { readonly fault: string } {
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
  const last = first | ((1n << hostBits) - 1n);
  return longest - prefix > ADDRESS_BITS - IPV4_OFFSET ? withoutIpv4({ first, last }) : [{ first, last }];
}

/** A range that is larger than all of IPv4 either has all of it or nothing. */
function withoutIpv4(range: AddressRange): readonly AddressRange[] {
  const { first, last } = range;
  if (last < IPV4.first || first > IPV4.last) {
    return [range];
  }
  const below = { first, last: IPV4.first - 1n };
  return last === IPV4.last ? [below] : [below, { first: IPV4.last + 1n, last }];
}

function parsePrefix(text: string): number | null {
  return /^(0|[1-9][0-9]{0,2})$/.test(text) ? Number(text) : null;
}

import ipaddr from 'ipaddr.js';
import { type AddressRange, IPV4_MAPPED, MAX_ADDRESS_LENGTH } from './address.ts';

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** `::ffff:0:0/96`, where IPv4 addresses are. */
const IPV4: AddressRange = { first: IPV4_MAPPED, last: IPV4_MAPPED + 0xffff_ffffn };

/**
 * An address of a request as a 128-bit number, IPv4 as `::ffff:a.b.c.d`; null if the text is no address. Takes the same texts as
 * `parseAddress`. ipaddr.js also takes octal, hexadecimal and short IPv4 addresses and zone ids, which are refused here.
 */
export function readAddress(text: string): bigint | null {
  if (text.length > MAX_ADDRESS_LENGTH) {
    return null;
  }
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return IPV4_MAPPED | numberOf(ipaddr.IPv4.parse(text));
  }
  const groups = withHexadecimalEnd(text);
  return groups === null || groups.includes('%') || !ipaddr.IPv6.isValid(groups) ? null : numberOf(ipaddr.IPv6.parse(groups));
}

/**
 * An IPv6 address without dots: `::1.2.3.4` becomes `::102:304`. ipaddr.js reads the former as `::ffff:1.2.3.4`, RFC 4291 does not. Null if
 * the end has dots but is no IPv4 address.
 */
function withHexadecimalEnd(text: string): string | null {
  if (!text.includes('.')) {
    return text;
  }
  const dottedFrom = text.lastIndexOf(':') + 1;
  const dotted = text.slice(dottedFrom);
  if (!ipaddr.IPv4.isValidFourPartDecimal(dotted)) {
    return null;
  }
  const number = Number(numberOf(ipaddr.IPv4.parse(dotted)));
  return `${text.slice(0, dottedFrom)}${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
}

function numberOf(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  return address.toByteArray().reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/**
 * The addresses of a CIDR range: `10.0.0.0/8`, `2001:db8::/32`, or one bare address. Host bits may be set. Families are not mixed: an IPv6
 * range around all of `::ffff:0:0/96`, such as `::/0`, is returned as the ranges on either side of it. A text that is no range is returned
 * as the reason why.
 */
export function readCidr(text: string): readonly AddressRange[] | { readonly fault: string } {
  const slash = text.indexOf('/');
  const addressText = slash === -1 ? text : text.slice(0, slash);
  const address = readAddress(addressText);
  if (address === null) {
    return { fault: 'is no IPv4 or IPv6 address with an optional prefix length, such as 10.0.0.0/8 or 2001:db8::/32' };
  }
  const bits = addressText.includes(':') ? IPV6_BITS : IPV4_BITS;
  const prefix = slash === -1 ? bits : readPrefix(text.slice(slash + 1));
  if (prefix === null || prefix > bits) {
    return { fault: `needs a prefix length of 0 to ${bits} in decimal digits` };
  }
  const hostBits = BigInt(bits - prefix);
  const first = (address >> hostBits) << hostBits;
  const last = first | ((1n << hostBits) - 1n);
  return bits - prefix > IPV4_BITS ? withoutIpv4({ first, last }) : [{ first, last }];
}

function readPrefix(text: string): number | null {
  return /^(0|[1-9][0-9]{0,2})$/.test(text) ? Number(text) : null;
}

/** Removes the IPv4 addresses from a range that has all of them or none. */
function withoutIpv4(range: AddressRange): readonly AddressRange[] {
  const { first, last } = range;
  if (last < IPV4.first || first > IPV4.last) {
    return [range];
  }
  const below = { first, last: IPV4.first - 1n };
  return last === IPV4.last ? [below] : [below, { first: IPV4.last + 1n, last }];
}

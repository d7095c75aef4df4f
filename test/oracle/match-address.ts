import ipaddr from 'ipaddr.js';
import { remembered } from './remembered.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The address, `::ffff:a.b.c.d` as the IPv4 address that it is; null for text that is no address. */
export const toAddress = remembered((text: string): Address | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return ipaddr.IPv4.parse(text);
  }
  // A zone index (`fe80::1%eth0`) names an interface of one machine: no address on the wire has one.
  const groups = spellOutDotted(text);
  if (!ipaddr.IPv6.isValid(groups) || text.includes('%')) {
    return null;
  }
  const address = ipaddr.IPv6.parse(groups);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
});

/** `::1.2.3.4` as `::102:304`: ipaddr.js takes the one for `::ffff:1.2.3.4`, RFC 4291 does not. */
function spellOutDotted(text: string): string {
  const [, before = '', dotted = ''] = /^(.*:)([^:]*\.[^:]*)$/.exec(text) ?? [];
  if (!ipaddr.IPv4.isValidFourPartDecimal(dotted)) {
    // Dotted, but no IPv4 address at the end: nothing that has a dot is an IPv6 address then.
    return dotted === '' ? text : '';
  }
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(dotted).toByteArray();
  return `${before}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** The network that a masked address stands for: `1.2.3.*`, or four groups before `::*` or `:*`; null for any other text. */
export const toMasked = remembered((text: string): readonly [base: Address, bits: number] | null => {
  const parts = text.split(/[.:]+/);
  if (parts.pop() !== '*' || parts.length > 4) {
    return null;
  }
  const ipv4 = toAddress(`${parts.join('.')}.0`);
  if (ipv4 !== null && text === `${parts.join('.')}.*`) {
    return [ipv4, 24];
  }
  const ipv6 = toAddress(`${parts.join(':')}:0:0:0:0`);
  return ipv6 !== null && [':*', '::*'].some((end) => text === parts.join(':') + end) ? [ipv6, 64] : null;
});

/** Both as addresses, or both as the networks of masked ones; as text where either is neither. */
export function sameAddress(a: string, b: string): boolean {
  const [left, right] = [toAddress(a), toAddress(b)];
  if (left !== null && right !== null) {
    return left.toNormalizedString() === right.toNormalizedString();
  }
  const [one, other] = [toMasked(a), toMasked(b)];
  return one === null || other === null ? a === b : one[0].toNormalizedString() === other[0].toNormalizedString();
}

/**
 * The range `address/prefix` or a single address, as a base and the number of its bits that count; null for anything else. A range inside
 * `::ffff:0:0/96` is one of IPv4; a shorter one is one of IPv6, whatever its text looks like.
 */
export const toRange = remembered((text: string): readonly [base: Address, bits: number] | null => {
  const [, address = '', prefix] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const base = toAddress(address);
  const width = address.includes(':') ? 128 : 32;
  const bits = prefix === undefined ? width : Number(prefix);
  if (base === null || bits > width) {
    return null;
  }
  if (base instanceof ipaddr.IPv6 || width === 32) {
    return [base, bits];
  }
  return bits < 96 ? [base.toIPv4MappedAddress(), bits] : [base, bits - 96];
});

/** An address of one family is in no range of the other. A masked one is in a range that has all of its network. */
export function isInRange(ip: string, rangeText: string): boolean {
  const masked = toMasked(ip);
  const [address, bits] = masked ?? [toAddress(ip), 128];
  const range = toRange(rangeText);
  return address !== null && range !== null && address.kind() === range[0].kind() && range[1] <= bits && address.match(range[0], range[1]);
}

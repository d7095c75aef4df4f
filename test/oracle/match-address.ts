import ipaddr from 'ipaddr.js';

/** The address in its IPv6 form (IPv4 as `::ffff:a.b.c.d`), or null for text that is no address. */
export function toAddress(text: string): ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return ipaddr.IPv4.parse(text).toIPv4MappedAddress();
  }
  // A zone index (`fe80::1%eth0`) names an interface of one machine: no address on the wire has one.
  const groups = spellOutDotted(text);
  return ipaddr.IPv6.isValid(groups) && !text.includes('%') ? ipaddr.IPv6.parse(groups) : null;
}

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

/** Both as addresses; as text where either is none. */
export function sameAddress(a: string, b: string): boolean {
  const [left, right] = [toAddress(a), toAddress(b)];
  return left === null || right === null ? a === b : left.toNormalizedString() === right.toNormalizedString();
}

/** The range `address/prefix` or a single address, as a 128-bit base and the number of its bits that count; null for anything else. */
export function toRange(text: string): readonly [base: ipaddr.IPv6, bits: number] | null {
  const [, address = '', prefix] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const base = toAddress(address);
  if (base === null) {
    return null;
  }
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  const width = isV4 ? 32 : 128;
  const bits = prefix === undefined ? width : Number(prefix);
  return bits > width ? null : [base, isV4 ? 96 + bits : bits];
}

export function isInRange(ip: string, rangeText: string): boolean {
  const [address, range] = [toAddress(ip), toRange(rangeText)];
  return address !== null && range !== null && address.match([range[0], range[1]]);
}

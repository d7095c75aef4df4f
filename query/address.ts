/** `::ffff:0:0`, the offset of IPv4 addresses among 128-bit numbers. */
export const IPV4_MAPPED = 0xffff_0000_0000n;

/** UTF-16 units of the longest address: six groups of four digits and a dotted IPv4. */
export const MAX_ADDRESS_LENGTH = 45;

/** A range of 128-bit addresses that includes both ends; IPv4 is in `::ffff:0:0/96`. A range need not be that of a CIDR prefix. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** The network that a masked address stands for, around any of its addresses: /24 of IPv4, /64 of IPv6. */
export function maskedNetwork(address: bigint): AddressRange {
  const hostBits = address >> 32n === IPV4_MAPPED >> 32n ? 8n : 64n;
  const first = (address >> hostBits) << hostBits;
  return { first, last: first + (1n << hostBits) - 1n };
}

/** The ranges in ascending order, those that overlap or touch joined. */
export function joinedRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const disjoint: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    const before = disjoint.at(-1);
    if (before === undefined || before.last + 1n < range.first) disjoint.push(range);
    else if (before.last < range.last) disjoint[disjoint.length - 1] = { first: before.first, last: range.last };
  }
  return disjoint;
}

/** The number of the `ip` of an event: of its address or, where that is masked, of its network's first address; null if it is neither. */
export function parseIp(text: string): bigint | null {
  return parseAddress(text) ?? parseMasked(text);
}

/** `a.b.c.*`, or four groups before `::*` or `:*`. */
const MASKED = /^(?:((?:\d{1,3}\.){3})|((?:[\da-f]{1,4}:){4}):?)\*$/i;

/** The first address of the network that a masked address is written for; null if the text is none. */
export function parseMasked(text: string): bigint | null {
  const [, octets, groups] = MASKED.exec(text) ?? [];
  return octets !== undefined ? parseAddress(`${octets}0`) : groups !== undefined ? parseAddress(`${groups}:`) : null;
}

/** The 16-bit groups of an IPv6 address. */
const GROUPS = 8;

/**
 * An address of an event as a 128-bit number, IPv4 as `::ffff:a.b.c.d`; null if the text is no address. IPv4 is four decimal octets without
 * leading zeros, because programs disagree about `10.1`, `0x7f.1` and `010.0.0.1`. IPv6 is as in RFC 4291, without a zone id (`%eth0`),
 * which names an interface. The number is only compared: answers have the text of the event. Written by hand because every event is parsed:
 * IPv6 takes 2 µs of CPU here and 24 µs in `readAddress` of `cidr.ts`, which reads the same texts with ipaddr.js.
 */
export function parseAddress(text: string): bigint | null {
  if (text.length > MAX_ADDRESS_LENGTH) {
    return null;
  }
  if (!text.includes(':')) {
    const ipv4 = parseIpv4(text);
    return ipv4 === null ? null : IPV4_MAPPED | BigInt(ipv4);
  }
  return parseIpv6(text);
}

/** The number of four decimal octets; null if the text is none. */
function parseIpv4(text: string): number | null {
  let [address, octet, digits, octets] = [0, 0, 0, 1];
  for (let index = 0; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    if (digit === -2) {
      if (digits === 0) {
        return null;
      }
      address = address * 256 + octet;
      [octet, digits, octets] = [0, 0, octets + 1];
    } else if (digit < 0 || digit > 9 || (digits > 0 && octet === 0)) {
      return null;
    } else {
      octet = octet * 10 + digit;
      digits += 1;
      if (octet > 255) {
        return null;
      }
    }
  }
  return octets === 4 && digits > 0 ? address * 256 + octet : null;
}

/** Up to eight groups; one `::` stands for at least one group of zeros; the last two groups may be a dotted IPv4. */
function parseIpv6(text: string): bigint | null {
  const dottedFrom = text.includes('.') ? text.lastIndexOf(':') + 1 : text.length;
  let groupText = text;
  if (dottedFrom < text.length) {
    const ipv4 = parseIpv4(text.slice(dottedFrom));
    if (ipv4 === null) {
      return null;
    }
    groupText = `${text.slice(0, dottedFrom)}${(ipv4 >>> 16).toString(16)}:${(ipv4 & 0xffff).toString(16)}`;
  }
  const sides = groupText.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const [before = [], after = []] = sides;
  const zeros = GROUPS - before.length - after.length;
  if (sides.length > 2 || (sides.length === 2 ? zeros < 1 : zeros !== 0)) {
    return null;
  }
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) {
    return null;
  }
  return BigInt(`0x${groups.map((group) => group.padStart(4, '0')).join('')}`);
}

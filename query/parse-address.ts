const IPV4_MAPPED = 0xffff_0000_0000n;

/** The longest text of an address: six groups of four and a dotted IPv4. */
const LONGEST_ADDRESS = 45;

/** The 16-bit groups of an IPv6 address. */
const GROUPS = 8;

/**
 * An address as a 128-bit number, IPv4 as `::ffff:a.b.c.d`; null where the text is no address. IPv4 is four decimal octets without leading
 * zeros: `10.1`, `0x7f.1` and `010.0.0.1` are addresses to inet_aton and ipaddr.js, but not the same ones to everybody. IPv6 is as in RFC
 * 4291, without a zone id (`%eth0`), which names an interface and no address. One and the same function for events and for searches.
 */
export function parseAddress(text: string): bigint | null {
  if (text.length > LONGEST_ADDRESS) {
    return null;
  }
  if (!text.includes(':')) {
    const ipv4 = parseIpv4(text);
    return ipv4 === null ? null : IPV4_MAPPED | BigInt(ipv4);
  }
  return parseIpv6(text);
}

/** Written out because it is asked of every event. */
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

import fc from 'fast-check';

/**
 * The first and last addresses of each side of `::ffff:0:0/96`, of the lower 64 bits, and of everything; and IPv4 written into other
 * prefixes.
 */
const EDGES = [
  '::',
  '::1',
  '::1.2.3.4',
  '::fffe:1.2.3.4',
  '::fffe:ffff:ffff',
  '0.0.0.0',
  '::ffff:0.0.0.0',
  '255.255.255.255',
  '::ffff:ffff:ffff',
  '::1:0:0:0',
  '::1:0:1.2.3.4',
  '::ffff:ffff:ffff:ffff',
  '0:0:0:1::',
  '64:ff9b::1.2.3.4',
  '2002:102:304::',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

const ADDRESSES = ['1.2.3.4', '1.2.3.5', '10.0.0.1', '10.200.3.4', '203.0.113.7', '2001:db8::1', '2001:db8:1::ff', 'fe80::1'];

/** An IPv4 address in a spelling that IPv6 has for it. */
const mappedAddress = fc
  .tuple(fc.oneof(fc.ipV4(), fc.constant('1.2.3.4')), fc.constantFrom('::ffff:', '::FFFF:', '0:0:0:0:0:ffff:', '0000::ffff:'), fc.boolean())
  .map(([ipv4, prefix, inHex]) => {
    const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
    return inHex ? `${prefix}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}` : `${prefix}${ipv4}`;
  });

/** Addresses of both families and IPv4 in its IPv6 spellings, many of them at the edges of the families. */
export const arbitraryAddress: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.constantFrom(...ADDRESSES),
  mappedAddress,
  fc.ipV4(),
  fc.ipV6(),
);

const octet = fc.oneof(fc.constantFrom('0', '1', '2', '255'), fc.nat(255).map(String));
const group = fc.oneof(
  fc.constantFrom('0', '1', 'ffff', '2001', 'db8', 'DB8', '0db8'),
  fc.nat(0xffff).map((value) => value.toString(16)),
);

/** Masked addresses of both families in every spelling, those around the addresses above among them. */
export const maskedAddress: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('1.2.3.*', '0.0.0.*', '255.255.255.*', '10.0.0.*', '203.0.113.*'),
  fc.constantFrom('0:0:0:0::*', '0:0:0:0:*', '0:0:0:1::*', '2001:db8:0:0:*', '2001:0DB8:0:0::*', '2001:db8:1:0::*', 'fe80:0:0:0::*'),
  fc.tuple(octet, octet, octet).map((octets) => `${octets.join('.')}.*`),
  fc.tuple(fc.array(group, { minLength: 4, maxLength: 4 }), fc.constantFrom(':*', '::*')).map(([groups, end]) => groups.join(':') + end),
);

/** The first and the last address of the networks of some masked ones, and what is beside them. */
export const besideMasked: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(octet, octet, octet, fc.constantFrom('0', '1', '127', '128', '255')).map((octets) => octets.join('.')),
  fc.constantFrom('1.2.3.0', '1.2.2.255', '1.2.4.0', '2001:db8::', '2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:1::', '::', 'fe80::'),
);

/** Prefix lengths of IPv6 around those where a range begins to hold `::ffff:0:0/96`, to lie in it, or to span halves. */
const IPV6_EDGE_BITS = [0, 1, 16, 48, 63, 64, 65, 79, 80, 81, 88, 94, 95, 96, 97, 104, 120, 127, 128];

/** A CIDR range of either family around one of the addresses, mostly with host bits set; or one address. */
export function arbitraryRange(addresses: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return addresses.chain((address) => {
    const bits = address.includes(':')
      ? fc.oneof(fc.constantFrom(...IPV6_EDGE_BITS), fc.integer({ min: 0, max: 128 }))
      : fc.oneof(fc.constantFrom(0, 1, 8, 23, 24, 25, 31, 32), fc.integer({ min: 0, max: 32 }));
    return fc.option(bits, { freq: 8 }).map((length) => (length === null ? address : `${address}/${length}`));
  });
}

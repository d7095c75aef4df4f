import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { maskedNetwork, parseAddress, parseIp, parseMasked } from '../../query/address.ts';
import { assertProperty } from '../random/assert-property.ts';

const MAPPED = 0xffff_0000_0000n;

/** The number of an address as ipaddr.js reads it. */
function byIpaddr(text: string): bigint {
  const address = ipaddr.parse(text);
  return address.toByteArray().reduce((number, byte) => (number << 8n) | BigInt(byte), address.kind() === 'ipv4' ? 0xffffn : 0n);
}

describe('addresses', () => {
  it.each([
    ['0.0.0.0', MAPPED],
    ['1.2.3.4', MAPPED | 0x01020304n],
    ['255.255.255.255', MAPPED | 0xffff_ffffn],
    ['::ffff:1.2.3.4', MAPPED | 0x01020304n],
    ['::FFFF:102:304', MAPPED | 0x01020304n],
    ['0:0:0:0:0:ffff:1.2.3.4', MAPPED | 0x01020304n],
    ['::', 0n],
    ['::1', 1n],
    ['1::', 1n << 112n],
    ['::1.2.3.4', 0x01020304n],
    ['64:ff9b::192.0.2.33', (0x64ff9bn << 96n) | 0xc0000221n],
    ['2001:db8::1', (0x20010db8n << 96n) | 1n],
    ['2001:0DB8:0:0:0:0:0:1', (0x20010db8n << 96n) | 1n],
    ['1:2:3:4:5:6:7::', 0x0001_0002_0003_0004_0005_0006_0007_0000n],
    ['::2:3:4:5:6:7:8', 0x0002_0003_0004_0005_0006_0007_0008n],
    ['ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255', (1n << 128n) - 1n],
  ])('%s is the number %s', (text, number) => {
    expect(parseAddress(text)).toBe(number);
  });

  it.each([
    ['nothing', ''],
    ['a word', 'unknown'],
    ['a hexadecimal word', 'abcd'],
    ['two octets', '10.1'],
    ['three octets', '10.1.2'],
    ['five octets', '1.2.3.4.5'],
    ['one number', '167772161'],
    ['a leading zero', '01.2.3.4'],
    ['double zero', '00.0.0.0'],
    ['a hexadecimal octet', '0x7f.0.0.1'],
    ['an octet of 256', '1.2.3.256'],
    ['an octet of many digits', '1.2.3.99999999999999999999'],
    ['an empty octet', '1..3.4'],
    ['a dot at the end', '1.2.3.4.'],
    ['a dot at the start', '.1.2.3.4'],
    ['a minus', '-1.2.3.4'],
    ['a blank before', ' 1.2.3.4'],
    ['a line end behind', '1.2.3.4\n'],
    ['other digits', '١.٢.٣.٤'],
    ['a port', '1.2.3.4:80'],
    ['a prefix', '1.2.3.4/32'],
    ['brackets', '[::1]'],
    ['a zone id', 'fe80::1%eth0'],
    ['a numeric zone id', 'fe80::1%1'],
    ['seven groups', '1:2:3:4:5:6:7'],
    ['nine groups', '1:2:3:4:5:6:7:8:9'],
    ['a colon at the end', '1:2:3:4:5:6:7:'],
    ['eight groups and a colon', '1:2:3:4:5:6:7:8:'],
    ['a single colon at the start', ':1::2'],
    ['one colon', ':'],
    ['three colons', ':::'],
    ['three colons inside', '1:::2'],
    [':: twice', '1::2::3'],
    [':: for no group', '1:2:3:4::5:6:7:8'],
    ['a group of five', '12345::'],
    ['zeros in a group of five', '::00001'],
    ['a group that is no number', '::g'],
    ['a dotted end with a leading zero', '::ffff:01.2.3.4'],
    ['a dotted end in hexadecimal', '::ffff:0x1.2.3.4'],
    ['a dotted end of three', '::ffff:1.2.3'],
    ['a dotted start', '1.2.3.4::'],
    ['a dotted middle', '::1.2.3.4:5'],
    ['a dotted end past eight groups', '1:2:3:4:5:6:7:1.2.3.4'],
    ['a NUL behind', '::1\0'],
    ['eight kilobytes', '1:'.repeat(4096)],
  ])('%s is no address: %j', (_, text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it('reads every address as ipaddr.js does', () => {
    assertProperty(
      fc.property(
        fc.oneof(
          fc.ipV4(),
          fc.ipV6().filter((text) => !/^::\d+\./.test(text)),
        ),
        (text) => {
          expect(parseAddress(text), text).toBe(byIpaddr(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('takes nothing that ipaddr.js does not take', () => {
    const piece = fc.constantFrom(':', '::', '.', '0', '1', '255', '256', 'ffff', 'g', '1.2.3.4', '%');
    assertProperty(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(parseAddress(text) === null || ipaddr.isValid(text), text).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('masked addresses', () => {
  const LOW_64 = (1n << 64n) - 1n;

  it.each([
    ['1.2.3.*', MAPPED | 0x01020300n, 8n],
    ['0.0.0.*', MAPPED, 8n],
    ['255.255.255.*', MAPPED | 0xffff_ff00n, 8n],
    ['2001:db8:0:1::*', 0x20010db8_0000_0001n << 64n, 64n],
    ['2001:db8:0:1:*', 0x20010db8_0000_0001n << 64n, 64n],
    ['2001:0DB8:0000:1:*', 0x20010db8_0000_0001n << 64n, 64n],
    ['0:0:0:0::*', 0n, 64n],
    ['0:0:0:0:*', 0n, 64n],
    ['ffff:ffff:ffff:ffff::*', LOW_64 << 64n, 64n],
  ])('%s is the network from %s on', (text, first, hostBits) => {
    expect([parseMasked(text), parseIp(text), parseAddress(text)]).toEqual([first, first, null]);
    const network = { first, last: first + (1n << hostBits) - 1n };
    expect([network.first, network.first + 1n, network.last].map(maskedNetwork)).toEqual([network, network, network]);
  });

  it.each([
    '*',
    '1.*',
    '1.2.*',
    '1.2.*.*',
    '1.2.3.**',
    '1.2.3.4*',
    '1.2.3*',
    '1.2.3.4.*',
    '1.2.*.4',
    '01.2.3.*',
    '1.2.256.*',
    '1.2.3.* ',
    '1.2.3.*\n',
    '::*',
    '1::*',
    '1:2:3::*',
    '1:2:3:*',
    '1::3:4:*',
    '1:2::4:*',
    '1:2:3:4*',
    '1:2:3:4:::*',
    '1:2:3:4:5::*',
    '1:2:3:4:5:*',
    '1:2:3:g::*',
    '12345:2:3:4::*',
    ':1:2:3:4:*',
    '::ffff:1.2.3.*',
    '1:2:3:4::*:5',
    '1.2.3.x',
    '1.2.3.0/24',
  ])('%j is none', (text) => {
    expect([parseMasked(text), parseIp(text)]).toEqual([null, null]);
  });

  it.each(['1.2.3.0', '::1', ''])('%j has the number of its address, if any', (text) => {
    expect([parseMasked(text), parseIp(text)]).toEqual([null, parseAddress(text)]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../query/address.ts';
import { readAddress, readCidr } from '../../query/cidr.ts';
import { assertProperty } from '../random/assert-property.ts';

describe('CIDR ranges', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0', '10.255.255.255'],
    ['10.1.2.3/8', '10.0.0.0', '10.255.255.255'],
    ['192.0.2.77/27', '192.0.2.64', '192.0.2.95'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['192.0.2.1/32', '192.0.2.1', '192.0.2.1'],
    ['192.0.2.1/31', '192.0.2.0', '192.0.2.1'],
    ['1.2.3.4/0', '0.0.0.0', '255.255.255.255'],
    ['1.2.3.4/0', '::ffff:0:0', '::ffff:ffff:ffff'],
    ['::ffff:10.0.0.0/104', '10.0.0.0', '10.255.255.255'],
    ['::ffff:10.0.0.0/96', '0.0.0.0', '255.255.255.255'],
    ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::dead:beef/64', '2001:db8::', '2001:db8::ffff:ffff:ffff:ffff'],
    ['2001:db8::1/127', '2001:db8::', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1', '2001:db8::1'],
    ['::ffff:10.1.2.3/128', '10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3', '10.1.2.3'],
    ['::/81', '::', '::7fff:ffff:ffff'],
    ['::1/96', '::', '::ffff:ffff'],
    ['::fffe:0:0/96', '::fffe:0:0', '::fffe:ffff:ffff'],
    ['::1:0:0:0/96', '::1:0:0:0', '::1:0:ffff:ffff'],
  ])('%s is %s to %s', (text, first, last) => {
    expect(readCidr(text)).toEqual([{ first: parseAddress(first), last: parseAddress(last) }]);
  });

  const BELOW_IPV4 = '::fffe:ffff:ffff';
  const ABOVE_IPV4 = '::1:0:0:0';
  it.each([
    ['::/0', '::', BELOW_IPV4, ABOVE_IPV4, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::ffff:1.2.3.4/0', '::', BELOW_IPV4, ABOVE_IPV4, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::1/1', '::', BELOW_IPV4, ABOVE_IPV4, '7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::/63', '::', BELOW_IPV4, ABOVE_IPV4, '0:0:0:1:ffff:ffff:ffff:ffff'],
    ['::/64', '::', BELOW_IPV4, ABOVE_IPV4, '::ffff:ffff:ffff:ffff'],
    ['::/65', '::', BELOW_IPV4, ABOVE_IPV4, '::7fff:ffff:ffff:ffff'],
    ['::/79', '::', BELOW_IPV4, ABOVE_IPV4, '::1:ffff:ffff:ffff'],
  ])('%s is %s to %s and %s to %s, without the IPv4 addresses between them', (text, first, below, above, last) => {
    expect(readCidr(text)).toEqual([
      { first: parseAddress(first), last: parseAddress(below) },
      { first: parseAddress(above), last: parseAddress(last) },
    ]);
  });

  it.each([
    ['::/80', '::'],
    ['::ffff:1.2.3.4/80', '::'],
    ['::8000:0:0/81', '::8000:0:0'],
    ['::fffc:0:0/94', '::fffc:0:0'],
    ['::fffe:0:0/95', '::fffe:0:0'],
    ['::ffff:1.2.3.4/95', '::fffe:0:0'],
  ])('%s is %s up to the IPv4 addresses, which it ends with', (text, first) => {
    expect(readCidr(text)).toEqual([{ first: parseAddress(first), last: parseAddress(BELOW_IPV4) }]);
  });

  it.each(['', '/', '/8', 'example', '10.0.0/8', '010.0.0.0/8', 'fe80::1%eth0/64', '10.0.0.0\\8', ' 10.0.0.0/8', '*'])(
    '%j has no address',
    (text) => {
      expect(readCidr(text)).toEqual({ fault: expect.stringContaining('is no IPv4 or IPv6 address') });
    },
  );

  it.each([
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/+8',
    '10.0.0.0/8 ',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/1e1',
    '10.0.0.0/٨',
  ])('%j needs a prefix length of 0 to 32', (text) => {
    expect(readCidr(text)).toEqual({ fault: expect.stringContaining('prefix length of 0 to 32') });
  });

  it.each(['::/129', '::/999', '::/', '::ffff:10.0.0.0/129'])('%j needs a prefix length of 0 to 128', (text) => {
    expect(readCidr(text)).toEqual({ fault: expect.stringContaining('prefix length of 0 to 128') });
  });
});

describe('an address of a request', () => {
  const addresses = fc.oneof(
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6(),
    fc.ipV4().map((text) => `::ffff:${text}`),
    fc.tuple(fc.ipV6(), fc.ipV4()).map(([ipv6, ipv4]) => ipv6.replace(/[^:]*$/, ipv4)),
    fc
      .array(fc.constantFrom(':', '::', '.', '0', '1', '255', '256', 'ffff', 'g', '1.2.3.4', '%', '0x1'), { maxLength: 12 })
      .map((parts) => parts.join('')),
  );
  const changes = fc.array(
    fc.tuple(fc.nat(50), fc.nat(2), fc.constantFrom('', '0', '1', 'f', 'F', 'x', '.', ':', '%', '%1', '/', ' ', '\n', '\0', '٣')),
    {
      maxLength: 3,
    },
  );
  const mutated = fc
    .tuple(addresses, changes)
    .map(([text, edits]) =>
      edits.reduce((changed, [at, removed, added]) => changed.slice(0, at) + added + changed.slice(at + removed), text),
    );

  it('is read as the address of an event is', () => {
    assertProperty(
      fc.property(mutated, (text) => {
        expect(readAddress(text), text).toBe(parseAddress(text));
      }),
      {
        numRuns: 20_000,
        examples: [['010.0.0.1'], ['0x7f.0.0.1'], ['10.1'], ['fe80::1%eth0'], ['::1.2.3.4'], ['::ffff:01.2.3.4'], ['1.2.3.4\n']].map(
          ([text]) => [text as string],
        ),
      },
    );
  });

  it.each(['010.0.0.1', '0x7f.0.0.1', '10.1', '167772161', 'fe80::1%eth0', '::ffff:01.2.3.4', '1.2.3.4 '])('is not %j', (text) => {
    expect(readAddress(text)).toBeNull();
  });
});

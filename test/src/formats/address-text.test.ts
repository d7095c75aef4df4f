import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '../../../query/address.ts';
import { addressKind, dottedQuad, expandedAddress, ocsfAddress } from '../../../src/formats/address-text.ts';
import { assertProperty } from '../../random/assert-property.ts';

test('an expanded address is the same address in 39 characters', () => {
  assertProperty(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const expanded = expandedAddress(text);
      expect([expanded.length, parseAddress(expanded)]).toEqual([39, parseAddress(text)]);
    }),
  );
});

test.each([
  ['192.0.2.7', 'ipv4', '192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', 'ipv4', '192.0.2.7', '::ffff:192.0.2.7'],
  ['::FFFF:C000:0207', 'ipv4', '192.0.2.7', '::FFFF:C000:0207'],
  ['0000:0000:0000:0000:0000:ffff:192.168.255.254', 'ipv4', '192.168.255.254', '0000:0000:0000:0000:0000:ffff:c0a8:fffe'],
])('%s is an %s address, %s as a dotted quad and %s in OCSF', (text, kind, dotted, ocsf) => {
  expect([addressKind(text), dottedQuad(text), ocsfAddress(text)]).toEqual([kind, dotted, ocsf]);
});

test('an IPv6 address of 40 characters or fewer is in OCSF as it came', () => {
  expect(['2001:DB8::1', '2001:0db8:0000:0000:0000:0000:0000:0001'].map(ocsfAddress)).toEqual([
    '2001:DB8::1',
    '2001:0db8:0000:0000:0000:0000:0000:0001',
  ]);
});

test('a text that is no address has no kind and is not written anew', () => {
  const host = `${'a'.repeat(60)}.example`;
  expect([addressKind(host), ocsfAddress(host)]).toEqual(['none', host]);
});

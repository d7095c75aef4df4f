import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../query/parse-address.ts';
import { parseCidr } from '../../query/parse-cidr.ts';

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
    ['::1/0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('%s is %s to %s', (text, first, last) => {
    expect(parseCidr(text)).toEqual({ first: parseAddress(first), last: parseAddress(last) });
  });

  it.each(['', '/', '/8', 'example', '10.0.0/8', '010.0.0.0/8', 'fe80::1%eth0/64', '10.0.0.0\\8', ' 10.0.0.0/8', '*'])(
    '%j has no address',
    (text) => {
      expect(parseCidr(text)).toEqual({ fault: expect.stringContaining('is no IPv4 or IPv6 address') });
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
    expect(parseCidr(text)).toEqual({ fault: expect.stringContaining('prefix length of 0 to 32') });
  });

  it.each(['::/129', '::/999', '::/', '::ffff:10.0.0.0/129'])('%j needs a prefix length of 0 to 128', (text) => {
    expect(parseCidr(text)).toEqual({ fault: expect.stringContaining('prefix length of 0 to 128') });
  });
});

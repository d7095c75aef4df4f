import { describe, expect, test } from 'vitest';
import { compareCodePoints, foldCase } from './fold-case.ts';
import { isInRange, sameAddress, toAddress, toRange } from './match-address.ts';
import { matchesQuery } from './match-event.ts';
import { matchesWildcard } from './match-wildcard.ts';
import type { OracleEvent } from './raw-event.ts';

describe('case', () => {
  test.each([
    ['a capital I with a dot becomes a plain i', 'İ', 'i'],
    ['a final sigma is a sigma like any other', 'ΟΔΟΣ', 'οδοσ'],
    ['the Kelvin sign is a k', 'K', 'k'],
    ['a sharp s stays one letter', 'ẞß', 'ßß'],
    ['a letter beyond the basic plane', '𐐀', '𐐨'],
  ])('%s', (_sentence, text, folded) => {
    expect(foldCase(text)).toBe(folded);
  });

  test('an emoji comes after a full-width letter, although its first UTF-16 unit is smaller', () => {
    expect(['😀', 'Ａ', 'b', '', 'a', 'aa'].toSorted(compareCodePoints)).toEqual(['', 'a', 'aa', 'b', 'Ａ', '😀']);
  });
});

describe('wildcards', () => {
  test.each([
    ['*', '', true],
    ['*', 'anything / at [all]', true],
    ['', '', true],
    ['', 'a', false],
    ['a*c', 'ABC', true],
    ['a*c', 'abcd', false],
    ['/a/*', '/a/b/c', true],
    ['*.php', '/x/.hidden/index.php', true],
    ['**a**', 'bab', true],
    ['a?c', 'abc', false],
    ['[ab]', 'a', false],
    ['{a,b}', 'a', false],
    ['!a', 'b', false],
    ['!a', '!a', true],
    ['a\\*', 'a\\b', true],
    ['a\\*', 'a*', false],
    ['*%_*', 'x%_y', true],
    ['*\n*', 'two\nlines', true],
    ['*😀', 'smile 😀', true],
    ['*\ud83d*', '😀', false],
    ['*1*', 'a', false],
    ['*u*', 'a', false],
    ['@(a)+(b)', 'ab', false],
  ])('%j and %j: %j', (pattern, value, matches) => {
    expect(matchesWildcard(value, pattern)).toBe(matches);
  });
});

describe('addresses', () => {
  test.each([
    ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1', true],
    ['::ffff:1.2.3.4', '1.2.3.4', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['::1.2.3.4', '::102:304', true],
    ['::1.2.3.4', '1.2.3.4', false],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304', true],
    ['unknown', 'unknown', true],
    ['unknown', 'Unknown', false],
    ['unknown', '1.2.3.4', false],
  ])('%s and %s are the same: %j', (a, b, same) => {
    expect(sameAddress(a, b)).toBe(same);
  });

  test.each(['', '1.2.3', '1.2.3.256', '0x7f.0.0.1', '1', 'fe80::1%eth0', '::1.2.3', '::01.2.3.4', '1.2.3.4/8', '::g'])(
    '%j is no address',
    (text) => {
      expect(toAddress(text)).toBeNull();
    },
  );

  test.each([
    ['10.200.0.1', '10.1.2.3/8', true],
    ['11.0.0.0', '10.1.2.3/8', false],
    ['::ffff:10.0.0.1', '10.0.0.0/8', true],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.2', '10.0.0.1', false],
    ['2001:db8:1::', '2001:db8::/32', true],
    ['2001:db9::', '2001:db8::/32', false],
    ['2001:db8::1', '2001:db8::1', true],
    ['1.2.3.4', '::/0', false],
    ['::ffff:1.2.3.4', '::/0', false],
    ['::ffff:102:304', '::/0', false],
    ['::fffe:1.2.3.4', '::/0', true],
    ['::1:0:0:0', '::/0', true],
    ['1.2.3.4', '::/80', false],
    ['::1.2.3.4', '::/80', true],
    ['1.2.3.4', '::ffff:1.2.3.4/95', false],
    ['::fffe:1.2.3.4', '::ffff:1.2.3.4/95', true],
    ['1.2.3.4', '::ffff:0:0/96', true],
    ['::ffff:1.2.3.4', '::ffff:0:0/96', true],
    ['1.3.3.4', '::ffff:1.2.3.4/112', false],
    ['1.2.3.5', '::ffff:1.2.3.4/127', true],
    ['::ffff:1.2.3.4', '0.0.0.0/0', true],
    ['::1.2.3.4', '0.0.0.0/0', false],
    ['1.2.3.4', '0.0.0.0/0', true],
    ['2001:db8::1', '0.0.0.0/0', false],
    ['no address', '::/0', false],
  ])('%s lies in %s: %j', (ip, range, inside) => {
    expect(isInRange(ip, range)).toBe(inside);
  });

  test.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/08', '10.0.0/8', '/8', '10.0.0.0/8/8', '10.0.0.0/-1'])(
    '%j is no range',
    (text) => {
      expect(toRange(text)).toBeNull();
    },
  );
});

describe('the free-text query', () => {
  const event: OracleEvent = {
    zoneId: 1,
    timestamp: 0,
    logId: 'a',
    log: {},
    fields: { url: '/Shop/cart?a=100%_b', ua: 'curl 8', ruleName: 'SQL injection', country: 'DE' },
  };
  test.each([
    ['SHOP', true],
    ['shop curl', true],
    ['shop wget', false],
    ['  \t ', true],
    ['"sql injection"', true],
    ['"injection sql"', false],
    ['100%_', true],
    ['1%0', false],
    ['DE', false],
  ])('%j matches: %j', (query, matches) => {
    expect(matchesQuery(event, query)).toBe(matches);
  });
});

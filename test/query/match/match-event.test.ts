import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { compileMatcher, type EventTexts, foldText, matchSubject } from '../../../query/match/match-event.ts';
import { wildcardSearch } from '../../../query/match/wildcard-search.ts';
import { compileConditions } from '../../../query/request/compile-search.ts';
import { wildcardParts } from '../../../query/request/request-predicate.ts';
import { SEARCH_LIMITS } from '../../../query/search-limits.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';

function matches(texts: EventTexts, request: object): boolean {
  return compileMatcher(compileConditions(Buffer.from(JSON.stringify(request)))).matches(matchSubject(texts));
}

const filter = (field: string, op: string, ...value: string[]) => ({ filters: [{ field, op, value }] });

const EVENT: EventTexts = {
  ip: '2001:db8::1',
  url: '/Shop/cart?a=100%_b',
  ua: 'curl 8',
  ruleName: 'SQL injection',
  ruleId: 'R1',
  country: 'DE',
  action: 'Blocked',
  asn: '64500',
  ja4: '',
};

describe('an event matches', () => {
  test.each([
    ['no conditions at all', {}],
    ['conditions that are null', { query: null, filters: null }],
    ['a word in another case', { query: 'SHOP' }],
    ['words of different columns', { query: 'shop curl' }],
    ['a phrase of the name of its rule', { query: '"sql injection"' }],
    ['a percent sign and an underscore as they are', { query: '100%_' }],
    ['one of several values', filter('country', 'in', 'fr', 'de')],
    ['an action in another case', filter('action', 'eq', 'BLOCKED')],
    ['its address in another spelling', filter('ip', 'eq', '2001:0DB8:0:0:0:0:0:1')],
    ['a range that it lies in', filter('ip', 'cidr', '10.0.0.0/8', '2001:db8::/32')],
    ['one of many ranges, some of them inside others', filter('ip', 'cidr', '::/128', '2001::/16', '2001:d00::/24', 'fe80::/10')],
    ['a range among others that are not in order', filter('ip', 'cidr', 'fe80::/10', '2001:db8::/32', '10.0.0.0/8')],
    ['the wider of two ranges that begin alike', filter('ip', 'cidr', '2001:db8::/128', '2001:db8::/32', '2001:db8::/127')],
    ['its number with AS', filter('asn', 'eq', 'as0064500')],
    ['an empty text that it has', filter('ja4', 'eq', '')],
    ['a star, with a value that is empty', filter('ja4', 'wildcard', '*')],
    ['a wildcard in another case', filter('url', 'wildcard', '/SHOP/*?A=*%_B')],
  ])('%s', (_what, request) => {
    expect(matches(EVENT, request)).toBe(true);
  });

  test.each([
    ['a word that one column lacks', { query: 'shop wget' }],
    ['a phrase the other way round', { query: '"injection sql"' }],
    ['a percent sign as a wildcard', { query: '1%0' }],
    ['a word of a column that the text is not looked for in', { query: 'DE' }],
    ['a rule in another case', filter('ruleId', 'eq', 'r1')],
    ['a range beside it', filter('ip', 'cidr', '2001:db9::/32', '0.0.0.0/0')],
    ['a star, without the value', filter('feature', 'wildcard', '*')],
    ['an empty text, without the value', filter('feature', 'eq', '')],
    ['all of two filters, one of them wrong', { filters: [...filter('country', 'eq', 'DE').filters, ...filter('asn', 'eq', '1').filters] }],
    ['a text right, a filter wrong', { query: 'shop', ...filter('asn', 'eq', '1') }],
  ])('not: %s', (_what, request) => {
    expect(matches(EVENT, request)).toBe(false);
  });

  test('its own hostile texts and no others', () => {
    const texts = HOSTILE_STRINGS.map(({ text }) => text);
    for (const wanted of texts) {
      const found = texts.filter((text) => matches({ feature: text }, filter('feature', 'eq', wanted)));
      expect(found).toEqual([wanted]);
      if (!wanted.includes('*') && wanted.length <= SEARCH_LIMITS.searchedTextBytes) {
        const starred = texts.filter((text) => matches({ url: text }, filter('url', 'wildcard', wanted)));
        expect(starred).toEqual([wanted]);
      }
    }
  });

  test.each([
    ['1.2.3.4', '::ffff:1.2.3.4', true],
    ['::ffff:1.2.3.4', '1.2.3.4', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['unknown', 'unknown', true],
    ['unknown', 'Unknown', false],
    ['010.0.0.1', '10.0.0.1', false],
  ])('the address %s as %s: %j', (ip, wanted, same) => {
    expect(matches({ ip }, filter('ip', 'eq', wanted))).toBe(same);
  });
});

describe('an address and ranges', () => {
  test.each([
    ['1.2.3.4', ['::/0'], false],
    ['::ffff:1.2.3.4', ['::/0'], false],
    ['::ffff:102:304', ['::/80', '::fffe:0:0/95', '::8000:0:0/81'], false],
    ['::fffe:1.2.3.4', ['::/0'], true],
    ['::1:0:1.2.3.4', ['::/0'], true],
    ['::1:0:1.2.3.4', ['::/80'], false],
    ['::fffe:1.2.3.4', ['::ffff:1.2.3.4/95'], true],
    ['1.2.3.4', ['::ffff:1.2.3.4/95'], false],
    ['1.2.3.4', ['::ffff:1.2.3.4/96'], true],
    ['::ffff:1.2.3.4', ['0.0.0.0/0'], true],
    ['2001:db8::1', ['::ffff:0:0/96', '0.0.0.0/0'], false],
    ['1.2.3.4', ['::/0', '1.2.3.0/24'], true],
    ['1.2.4.4', ['1.2.3.0/24', '::/0'], false],
    ['2001:db8::1', ['1.2.3.0/24', '::/0'], true],
    ['1.2.3.4', ['::/0', '0.0.0.0/0'], true],
    ['unknown', ['::/0', '0.0.0.0/0'], false],
  ])('%s lies in %j: %j', (ip, ranges, lies) => {
    expect(matches({ ip }, filter('ip', 'cidr', ...ranges))).toBe(lies);
  });
});

describe('a wildcard', () => {
  test.each([
    ['abc', 'abc', true],
    ['abc', 'a*', true],
    ['abc', '*c', true],
    ['abc', 'a*c', true],
    ['abc', 'a*b*c', true],
    ['abc', '*', true],
    ['', '*', true],
    ['', '', true],
    ['a', '', false],
    ['aba', 'ab*ba', false],
    ['aaa', 'aa*aa', false],
    ['abcab', '*ab', true],
    ['abcab', 'ab*c', false],
    ['xaxbx', '*a*b*', true],
    ['xbxax', '*a*b*', false],
    ['abab', 'a*b*ab', true],
    ['aab', 'a*ab*b', false],
  ])('on %j: %j is %j', (text, pattern, expected) => {
    expect(wildcardSearch(wildcardParts(pattern)).matches(text)).toBe(expected);
  });

  test('of 250 stars on a text made for backtracking comes to an end', () => {
    const parts = ['', ...Array<string>(250).fill('a'), 'b'];
    expect(wildcardSearch(parts).matches('a'.repeat(60_000))).toBe(false);
    expect(wildcardSearch(parts).matches(`${'a'.repeat(60_000)}b`)).toBe(true);
  });
});

describe('lower case', () => {
  test('is that of the engine for every code point, by itself and between others', async () => {
    const instance = await DuckDBInstance.create();
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll(
      `SELECT code, lower('xA' || chr(code::INTEGER)) AS folded FROM range(1, 1114112) codes(code)
       WHERE code NOT BETWEEN 55296 AND 57343 AND folded <> 'xa' || chr(code::INTEGER)`,
    );
    const lowerOf = new Map(reader.getRows().map(([code, lower]) => [Number(code), lower]));
    connection.closeSync();
    instance.closeSync();
    expect(lowerOf.size).toBeGreaterThan(1000);
    const different: number[] = [];
    for (let code = 1; code < 0x11_0000; code += code === 0xd7ff ? 0x801 : 1) {
      const letter = String.fromCodePoint(code);
      if (foldText(`xA${letter}`) !== (lowerOf.get(code) ?? `xa${letter}`)) different.push(code);
    }
    expect(different.map((code) => code.toString(16))).toEqual([]);
  });

  test.each([
    ['\u039f\u0394\u039f\u03a3 \u0130\u03a3A', '\u03bf\u03b4\u03bf\u03c3 i\u03c3a'],
    ['\u{16ea0}B\u{16ea0}', '\u{16ea0}b\u{16ea0}'],
    ['', ''],
  ])('of %j is %j', (text, lower) => {
    expect(foldText(text)).toBe(lower);
  });
});

describe('a request of conditions', () => {
  test.each([
    ['[]', '$'],
    ['{"from":1}', 'from'],
    ['{"query":5}', 'query'],
    ['{"filters":[{"field":"ip","op":"cidr","value":["10.0.0.0/33"]}]}', 'filters[0].value[0]'],
    ['{"filters":[{"field":"url","op":"contains","value":[""]}]}', 'filters[0].value[0]'],
    ['{', '$'],
    [`{"query":${JSON.stringify('a b '.repeat(65).replaceAll(/[ab]/g, (letter, at) => letter + at))}}`, 'query'],
  ])('%.60s is refused, and %s is named', (body, field) => {
    expect(() => compileConditions(Buffer.from(body))).toThrow(
      expect.objectContaining({ name: 'InvalidSearchError', errors: [expect.objectContaining({ field })] }),
    );
  });
});

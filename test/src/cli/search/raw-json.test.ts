import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonParts, NoJson, rawRecord } from '../../../../src/cli/search/raw-json.ts';

const shown = (json: string) => jsonParts(Buffer.from(json)).map(({ name, value }) => [name, value.toString()]);

describe('the parts of JSON', () => {
  test.each<[what: string, json: string, parts: readonly (readonly [string | null, string])[]]>([
    ['an empty object', ' { } ', []],
    ['an empty array', '[]', []],
    [
      'numbers with all their digits',
      '{"a":9007199254740993,"b":1.0e400}',
      [
        ['a', '9007199254740993'],
        ['b', '1.0e400'],
      ],
    ],
    [
      'brackets and quotes in strings',
      '["}]\\"{",{"a":"]"}]',
      [
        [null, '"}]\\"{"'],
        [null, '{"a":"]"}'],
      ],
    ],
    [
      'a string that ends in a backslash',
      '["\\\\",1]',
      [
        [null, '"\\\\"'],
        [null, '1'],
      ],
    ],
    ['names with escapes', '{"\\u0061\\"":[1,[2]]}', [['a"', '[1,[2]]']]],
    [
      'blanks around everything',
      ' { "a" : 1 , "b"\t:\n[ 1 ] } ',
      [
        ['a', '1'],
        ['b', '[ 1 ]'],
      ],
    ],
    ['other scripts', '{"日本":"é🦊"}', [['日本', '"é🦊"']]],
  ])('%s', (_what, json, parts) => {
    expect(shown(json)).toEqual(parts);
  });

  test('are what JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), fc.nat(3), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        const parts = jsonParts(Buffer.from(json));
        const expected = Array.isArray(value) ? value.map((element) => [null, element]) : Object.entries(JSON.parse(json) as object);
        expect(parts.map(({ name, value: bytes }) => [name, JSON.parse(bytes.toString())])).toEqual(JSON.parse(JSON.stringify(expected)));
      }),
    );
  });

  test.each(['', '1', '"a"', '{', '{"a"', '{"a":', '{"a":1', '{a:1}', '["a', '[1', '{"a" 1}'])('%s has none', (json) => {
    expect(() => shown(json)).toThrow(NoJson);
  });
});

test('a record has the members of its objects beside its own', () => {
  const record = rawRecord(Buffer.from('{"logId":"a","log":{"n":9007199254740993},"fields":{"ip":"::1","ua":""}}'), ['fields']);
  expect([...record].map(([name, value]) => [name, value.toString()])).toEqual([
    ['logId', '"a"'],
    ['log', '{"n":9007199254740993}'],
    ['fields.ip', '"::1"'],
    ['fields.ua', '""'],
  ]);
});

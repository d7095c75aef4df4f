import { describe, expect, test } from 'vitest';
import { parseJsonBody } from '../../edge/input-validation.ts';
import { scanJson } from '../../edge/json-scan.ts';
import { shown } from '../../edge/shown-value.ts';

const nested = (depth: number, open: string, close: string): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

describe('a value in a message', () => {
  test.each<[unknown, string]>([
    ['a "b"\n', '"a \\"b\\"\\n"'],
    ['\ud800', '"\\ud800"'],
    [undefined, 'nothing'],
    [null, 'null'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [JSON.parse('9223372036854775807'), 'about 9223372036854776000'],
    [JSON.parse('{"a":[-12345678901234567890,0.1]}'), '{"a":[about -12345678901234567000,0.1]}'],
    [{ a: [1, true, null], 'b"': 'x' }, '{"a":[1,true,null],"b\\"":"x"}'],
    [[], '[]'],
    ['x'.repeat(1000), `"${'x'.repeat(99)}…`],
    [{ a: 'x'.repeat(1000) }, `{"a":"${'x'.repeat(94)}…`],
    [`${'x'.repeat(98)}😀`, `"${'x'.repeat(98)}�…`],
  ])('is shown as JSON, cut where it is long: %j', (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('is shown also where %s is nested a hundred thousand deep', (open, close) => {
    const value: unknown = JSON.parse(nested(100_000, open, close));
    expect(() => JSON.stringify(value)).toThrow(RangeError);
    expect(shown(value).length).toBeLessThanOrEqual(101);
  });

  test('of a million members is not written out to be cut', () => {
    const value = Array.from({ length: 1_000_000 }, () => ({ toJSON: () => expect.unreachable() }));
    expect(shown(value).length).toBeLessThanOrEqual(101);
  });
});

const MANY_KEYS = Array.from({ length: 31 }, (_, index) => `"key${index}":0`).join(',');

describe('a key', () => {
  test.each<[string, string | null]>([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"a":{"b":1,"c":[{"d":1,"d":2}]}}', 'd'],
    ['{"":1,"":2}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a\\"":1,"a\\"":2}', 'a"'],
    ['{"a":"{\\"a\\":1,\\"a\\":2}"}', null],
    ['{"a":"a","b":"a"}', null],
    ['["a","a",{"a":1},{"a":1}]', null],
    ['{"a":{"a":{"a":1}}}', null],
    ['{"a":[1,2],"b":3,"A":4}', null],
    [`{${MANY_KEYS},"key3":0}`, 'key3'],
    [`{${MANY_KEYS},"key30":0}`, 'key30'],
    [`{${MANY_KEYS},"a":{${MANY_KEYS}}}`, null],
    ['{"a\\\\":1,"a":2}', null],
    ['"a"', null],
    [' \t{ "a" : 1 , "b" : [ ] , "a" : 3 }\n', 'a'],
    [nested(200_000, '{"a":', '}'), null],
  ])('that is there twice is found in %s', (json, key) => {
    JSON.parse(json);
    const any = Number.POSITIVE_INFINITY;
    expect(scanJson(json, { values: any, keys: any, depth: any }).repeatedKey).toBe(key);
  });

  test('that is there twice refuses the body: an upstream might take the other one', () => {
    expect(() => parseJsonBody(Buffer.from('{"action":9,"action":1}'))).toThrow('The body has the key "action" twice in one object');
  });
});

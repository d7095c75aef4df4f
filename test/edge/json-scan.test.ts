import { describe, expect, test } from 'vitest';
import { JSON_COST, scanJson } from '../../edge/json-scan.ts';

const { values, keys, depth } = JSON_COST;
const list = (count: number, value = '0'): string => `[${Array.from({ length: count }, () => value).join(',')}]`;
const object = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join(',')}}`;
const nested = (levels: number, open: string, close: string): string => `${open.repeat(levels)}0${close.repeat(levels)}`;

const VALUES = `more than ${values} values; allowed: up to ${values}`;
const KEYS = `more than ${keys} keys in one object; allowed: up to ${keys}`;
const DEPTH = `more than ${depth} objects and lists inside one another; allowed: up to ${depth}`;

describe('a JSON text', () => {
  test.each([
    ['a number', '1', null],
    ['as many values as are allowed', list(values - 1), null],
    ['one value more', list(values), VALUES],
    ['many small objects', list(values, '{}'), VALUES],
    ['many small lists', list(values, '[]'), VALUES],
    ['as many keys as are allowed', object(keys), null],
    ['one key more', object(keys + 1), KEYS],
    ['as many keys in each of two objects', `[${object(keys)},${object(keys)}]`, null],
    ['a list of more items than an object may have keys', `{"a":${list(keys * 2)},"b":0}`, null],
    ['too many keys around a list', `{"a":${list(3)},${object(keys).slice(1)}`, KEYS],
    ['lists as deep as is allowed', nested(depth, '[', ']'), null],
    ['lists one deeper', nested(depth + 1, '[', ']'), DEPTH],
    ['objects one deeper', nested(depth + 1, '{"a":', '}'), DEPTH],
    ['signs that stand in a string', JSON.stringify(',{['.repeat(values)), null],
    ['signs behind an escaped quote', JSON.stringify(`"\\",${','.repeat(values)}`), null],
    ['signs behind a string that ends in a backslash', `["\\\\",${list(values)}]`, VALUES],
    ['a string without an end', `"${','.repeat(values)}`, null],
    ['nothing but closing signs', ']'.repeat(values), null],
  ])('of %s', (_what, text, expected) => {
    expect(scanJson(text, JSON_COST).tooCostly).toBe(expected);
  });
});

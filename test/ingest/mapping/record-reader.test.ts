import { describe, expect, it } from 'vitest';
import { mapped, mappingOf, outcomeOf } from './mapped.ts';

const TIME = 'timestamp: {path: t, time: [unix, iso]}\n';
const T = '"t":1795838661558';

/** What `ua` becomes by a mapping of a record with this member besides its time; the reason where it is a letter. */
function uaOf(members: string, record: string): unknown {
  const [one] = mapped(mappingOf(`${TIME}${members}`), record);
  const outcome = outcomeOf(one);
  return typeof outcome === 'string' ? outcome : outcome['ua'];
}

/** Every kind of value that a record can have, as it is written; null: the member is not there. */
const KINDS = {
  absent: null,
  null: 'null',
  text: '"Ab-c:80"',
  'empty text': '""',
  dash: '"-"',
  'n/a': '"n/A"',
  escapes: '"a\\u00e9\\n\\"\\ud83d\\ude00"',
  number: '12',
  'negative zero': '-0',
  'large number': '12345678901234567890',
  'past 2^53': '9007199254740993',
  fraction: '0.30000000000000004',
  exponent: '1e400',
  true: 'true',
  false: 'false',
  'empty list': '[]',
  list: '["x",2]',
  'empty object': '{}',
  object: '{"x":1}',
} as const;

type Kind = keyof typeof KINDS;

const LIST = 'rejected: ua is a list of 2: a text, a number, true or false is required';
const OBJECT = 'rejected: ua is an object with "x": a text, a number, true or false is required';

/** What each word makes of each kind. A kind that is not named is absent. */
const WORDS: readonly (readonly [string, Partial<Record<Kind, string>>])[] = [
  [
    'v',
    {
      ...{ text: 'Ab-c:80', escapes: 'aé\n"😀', number: '12', 'negative zero': '0', 'large number': '12345678901234567890' },
      ...{ 'past 2^53': '9007199254740993', fraction: '0.30000000000000004', exponent: '1e400', true: 'true', false: 'false' },
      ...{ list: LIST, object: OBJECT },
    },
  ],
  [
    '{path: v, absent: [12, "TRUE"]}',
    {
      ...{ text: 'Ab-c:80', 'empty text': '', dash: '-', 'n/a': 'n/A', escapes: 'aé\n"😀', 'negative zero': '0' },
      ...{ 'large number': '12345678901234567890', 'past 2^53': '9007199254740993', fraction: '0.30000000000000004', exponent: '1e400' },
      ...{ false: 'false', list: LIST, object: OBJECT },
    },
  ],
  [
    '{path: v, upper: true, table: {"AB-C:80": found, "12": twelve, "12345678901234567890": large, "true": "yes"}}',
    { text: 'found', number: 'twelve', 'large number': 'large', true: 'yes', list: LIST, object: OBJECT },
  ],
  [
    '{path: v, table: {"ab-c:80": null, "*": rest}}',
    {
      ...{ escapes: 'rest', number: 'rest', 'negative zero': 'rest', 'large number': 'rest', 'past 2^53': 'rest', fraction: 'rest' },
      ...{ exponent: 'rest', true: 'rest', false: 'rest', list: LIST, object: OBJECT },
    },
  ],
  [
    '{path: v, lower: true, address: true}',
    {
      ...{ text: 'ab-c', escapes: 'aé\n"😀', number: '12', 'negative zero': '0', 'large number': '12345678901234567890' },
      ...{ 'past 2^53': '9007199254740993', fraction: '0.30000000000000004', exponent: '1e400', true: 'true', false: 'false' },
      ...{ list: LIST, object: OBJECT },
    },
  ],
  ['{const: c, when: {v: ab-C:80}}', { text: 'c' }],
  ['{const: c, when: {v: [12, "true", 9007199254740993]}}', { number: 'c', true: 'c', 'past 2^53': 'c' }],
  [
    "{const: c, when: {v: '*'}}",
    {
      ...{
        text: 'c',
        escapes: 'c',
        number: 'c',
        'negative zero': 'c',
        'large number': 'c',
        'past 2^53': 'c',
        fraction: 'c',
        exponent: 'c',
      },
      ...{ true: 'c', false: 'c', list: 'c', object: 'c' },
    },
  ],
  ["{const: c, when: {v: '*', absent: '*'}}", {}],
  ['v[0]', { list: 'x' }],
  ['v[*]', { list: 'x' }],
  ['v.x', { object: '1' }],
  ["{text: 'a{v}'}", { ...prefixed('a'), list: LIST, object: OBJECT }],
  ["{text: 'a{?v}b'}", { ...prefixed('a?', 'b'), ...absentAs('ab'), list: LIST, object: OBJECT }],
  ['{first: [absent, v, {const: last}]}', { ...prefixed(''), ...absentAs('last'), list: LIST, object: OBJECT }],
];

function prefixed(before: string, after = ''): Partial<Record<Kind, string>> {
  const texts = { text: 'Ab-c:80', escapes: 'aé\n"😀', number: '12', 'negative zero': '0', 'large number': '12345678901234567890' };
  const more = { 'past 2^53': '9007199254740993', fraction: '0.30000000000000004', exponent: '1e400', true: 'true', false: 'false' };
  return Object.fromEntries(Object.entries({ ...texts, ...more }).map(([kind, text]) => [kind, `${before}${text}${after}`]));
}

function absentAs(text: string): Partial<Record<Kind, string>> {
  const absent = ['absent', 'null', 'empty text', 'dash', 'n/a', 'empty list', 'empty object'] as const;
  return Object.fromEntries(absent.map((kind) => [kind, text]));
}

describe.each(WORDS)('ua: %s', (word, wanted) => {
  it.each(Object.entries(KINDS))('of %s', (kind, value) => {
    const record = value === null ? `{${T}}` : `{${T},"V":${value}}`;
    expect(uaOf(`ua: ${word}`, record)).toBe(wanted[kind as Kind]);
  });
});

describe('a text of parts', () => {
  it.each([
    ["'https://{host}{uri}{?args}'", '"host":"h","uri":"/a","args":"b=1"', 'https://h/a?b=1'],
    ["'https://{host}{uri}{?args}'", '"host":"h","uri":"/a","args":"?b=1"', 'https://h/a?b=1'],
    ["'https://{host}{uri}{?args}'", '"host":"h","uri":"/a","args":""', 'https://h/a'],
    ["'https://{host}{uri}{?args}'", '"host":"h","args":"b"', undefined],
    ["'{host}{:port}{/path}{#part}{&more}'", '"host":"h","port":443,"path":"p","part":"#x","more":"m"', 'h:443/p#x&m'],
    ["'{host}{:port}{/path}'", '"host":"h","port":null,"path":"/p"', 'h/p'],
    ['\'{":authority"}\'', '":authority":"h"', 'h'],
    ["'{list[name=host].value}!'", '"list":[{"name":"Host","value":"h"}]', 'h!'],
    ["'no part'", '"a":1', 'no part'],
  ])('%s of {%s}', (text, members, ua) => {
    expect(uaOf(`ua: {text: ${text}}`, `{${T},${members}}`)).toBe(ua);
  });
});

describe('an address loses its port', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:9989', '192.0.2.7'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['::1', '::1'],
    ['www.example.com:8443', 'www.example.com'],
    ['192.0.2.7:', '192.0.2.7:'],
    ['[]', ''],
  ])('%s', (text, address) => {
    expect(uaOf('ua: {path: v, address: true}', `{${T},"v":${JSON.stringify(text)}}`)).toBe(address);
  });
});

describe('a table of domains', () => {
  const table = "{shop.example.com: shop, '*.example.com': sub, '*.com': com, '*': other}";
  it.each([
    ['shop.example.com', 'shop'],
    ['SHOP.example.COM', 'shop'],
    ['a.b.example.com', 'sub'],
    ['example.com', 'com'],
    ['com', 'other'],
    ['.example.com', 'com'],
    ['example.org', 'other'],
    [`${'a.'.repeat(200)}com`, 'other'],
  ])('%s', (host, ua) => {
    expect(uaOf(`ua: {path: v, table: ${table}}`, `{${T},"v":"${host}"}`)).toBe(ua);
  });
});

it('the last of several members with the same name counts, as in any event', () => {
  expect(uaOf('ua: a', `{${T},"a":"x","a":"y"}`)).toBe('y');
});

it('members that every object of JavaScript has are none of a record', () => {
  expect(uaOf('ua: {first: [constructor.name, toString, __proto__.a]}', `{${T}}`)).toBeUndefined();
  expect(uaOf('ua: __proto__.a', `{${T},"__proto__":{"a":"own"}}`)).toBe('own');
});

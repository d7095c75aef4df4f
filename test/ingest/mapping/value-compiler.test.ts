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
/** Numbers as they are written, which is how a text of the event has them. */
const NUMBERS = {
  number: '12',
  'negative zero': '-0',
  'large number': '12345678901234567890',
  'past 2^53': '9007199254740993',
  fraction: '0.30000000000000004',
  exponent: '1e400',
  'zeros behind the point': '2.0',
  'an exponent that changes nothing': '12e0',
  tiny: '0.0000001',
} as const;

const KINDS = {
  absent: null,
  null: 'null',
  text: '"Ab-c:80"',
  'empty text': '""',
  dash: '"-"',
  'n/a': '"n/A"',
  escapes: '"a\\u00e9\\n\\"\\ud83d\\ude00"',
  ...NUMBERS,
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

const SCALARS = { text: 'Ab-c:80', escapes: 'aé\n"😀', true: 'true', false: 'false', ...NUMBERS };
const NESTED = { list: LIST, object: OBJECT };

/** What each word makes of each kind. A kind that is not named is absent. Where a number is only compared, `12e0` is 12 and `2.0` is 2. */
const WORDS: readonly (readonly [string, Partial<Record<Kind, string>>])[] = [
  ['v', { ...SCALARS, ...NESTED }],
  [
    '{path: v, absent: [12, "TRUE"]}',
    {
      ...without(['number', 'an exponent that changes nothing', 'true'], SCALARS),
      ...{ ...NESTED, 'empty text': '', dash: '-', 'n/a': 'n/A' },
    },
  ],
  [
    '{path: v, upper: true, table: {"AB-C:80": found, "12": twelve, "2": two, "12345678901234567890": large, "true": "yes"}}',
    {
      ...{ text: 'found', number: 'twelve', 'an exponent that changes nothing': 'twelve', 'zeros behind the point': 'two' },
      ...{ 'large number': 'large', true: 'yes', ...NESTED },
    },
  ],
  ['{path: v, table: {"ab-c:80": null, "*": rest}}', { ...without(['text'], always('rest')), ...NESTED }],
  ['{first: [absent, v], table: {"12": twelve}}', { number: 'twelve', 'an exponent that changes nothing': 'twelve', ...NESTED }],
  ['{text: \'{v}\', table: {"2": two}}', { 'zeros behind the point': 'two', ...NESTED }],
  ['{path: v, lower: true, address: true}', { ...SCALARS, text: 'ab-c', ...NESTED }],
  ['{const: c, when: {v: ab-C:80}}', { text: 'c' }],
  [
    '{const: c, when: {v: [12, "true", 9007199254740993]}}',
    { number: 'c', 'an exponent that changes nothing': 'c', true: 'c', 'past 2^53': 'c' },
  ],
  ["{const: c, when: {v: '*'}}", { ...always('c'), list: 'c', object: 'c' }],
  ["{const: c, when: {v: '*', absent: '*'}}", {}],
  ['v[0]', { list: 'x' }],
  ['v[*]', { list: 'x' }],
  ['v.x', { object: '1' }],
  ["{text: 'a{v}'}", { ...prefixed('a'), ...NESTED }],
  ["{text: 'a{?v}b'}", { ...prefixed('a?', 'b'), ...absentAs('ab'), ...NESTED }],
  ['{first: [absent, v, {const: last}]}', { ...prefixed(''), ...absentAs('last'), ...NESTED }],
];

function without(kinds: readonly Kind[], texts: Partial<Record<Kind, string>>): Partial<Record<Kind, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([kind]) => !kinds.includes(kind as Kind)));
}

function always(text: string): Partial<Record<Kind, string>> {
  return Object.fromEntries(Object.keys(SCALARS).map((kind) => [kind, text]));
}

function prefixed(before: string, after = ''): Partial<Record<Kind, string>> {
  return Object.fromEntries(Object.entries(SCALARS).map(([kind, text]) => [kind, `${before}${text}${after}`]));
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

describe('a number keeps its digits', () => {
  it.each([
    ['"v":1.50', '1.50'],
    ['"v":1.5', '1.5'],
    ['"v": 2.0 ', '2.0'],
    ['"a":[2.0],"v":2', '2'],
    ['"a":"x: 2.0,","v":2', '2'],
    ['"v":1E5', '1E5'],
    ['"v":1e21', '1e21'],
    ['"v":1000000000000000000000', '1000000000000000000000'],
    ['"v":0.1000000000000000055511', '0.1000000000000000055511'],
    ['"v":1.00000000000000000000001', '1.00000000000000000000001'],
    ['"v":0', '0'],
    ['"v":-0.0', '-0.0'],
    ['"v":1795838661558123456', '1795838661558123456'],
    ['"v": -1795838661558123456 ', '-1795838661558123456'],
    ['"v":1795838661558123456.5', '1795838661558123456.5'],
    ['"v":1.795838661558123456e18', '1.795838661558123456e18'],
    ['"v":1.795838661558123456e18,"a":1795838661558123456', '1.795838661558123456e18'],
    ['"v":1.795838661558123456e18,"a":"x: 1795838661558123456,"', '1.795838661558123456e18'],
    ['"v":9007199254740993,"a":9007199254740992', '9007199254740993'],
    ['"v":9007199254740993,"a":"9007199254740993"', '9007199254740993'],
    ['"a":"9007199254740993","v":9007199254740993', '9007199254740993'],
    ['"v":9007199254740993,"a":"9007199254740993 of a text"', '9007199254740993'],
    [`"a":[${'9007199254740993,'.repeat(20)}1],"v":9007199254740993`, '9007199254740993'],
    [`"a":[${'9007199254740992,'.repeat(5)}1],"v":9007199254740993`, '9007199254740993'],
    ['"v":9007199254740993,"a":19007199254740993', '9007199254740993'],
    ['"v":1999999999999999999', '1999999999999999999'],
    ['"v":2,"a":[1.0,2.0]', '2'],
    ['"a":[1.0,2.0],"v":2.00', '2.00'],
  ])('{%s}', (members, ua) => {
    expect(uaOf('ua: v', `{${T},${members}}`)).toBe(ua);
  });

  it('that counts as absent, too', () => {
    const record = `{${T},"l":[{"v":9007199254740993},{"v":7}]}`;
    expect(uaOf('ua: {path: "l[*].v", absent: 9007199254740993}', record)).toBe('7');
  });

  it('but counts by its value where it is the number of a network, a zone or a time', () => {
    const record = `{"t":1795838661558.0,"asn":64500.0,"zone":3.0}`;
    const [one] = mapped(mappingOf(`${TIME}asn: asn\nzone: zone`), record);
    expect(outcomeOf(one)).toMatchObject({ shieldZoneId: 3, timestamp: 1_795_838_661_558, asn: '64500' });
  });

  it('and in the list by which an item is chosen, its value counts', () => {
    const record = `{${T},"n":2.0,"l":[{"id":949110.0,"m":"sum"},{"id":942100,"m":"rule"}]}`;
    expect(uaOf('ua: {first: [{path: n, table: {"3": x}}, "l[id!=949110].m"]}', record)).toBe('rule');
    expect(uaOf('ua: "l[id=949110].id"', record)).toBe('949110.0');
  });
});

it('the last of several members with the same name counts, as in any event', () => {
  expect(uaOf('ua: a', `{${T},"a":"x","a":"y"}`)).toBe('y');
});

it('members that every object of JavaScript has are none of a record', () => {
  expect(uaOf('ua: {first: [constructor.name, toString, __proto__.a]}', `{${T}}`)).toBeUndefined();
  expect(uaOf('ua: __proto__.a', `{${T},"__proto__":{"a":"own"}}`)).toBe('own');
});

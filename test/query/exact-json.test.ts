import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../query/exact-json.ts';
import { exactInteger, JsonNumber, type JsonValue } from '../../query/json-value.ts';
import { assertProperty } from '../random/assert-property.ts';

/** Returns the value as JSON.parse would return it. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) {
    return Number(value.source);
  }
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, child]) => [key, plain(child)]));
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

const parse = (text: string) => parseExactJson(text, { depth: 32, values: 1_000_000 });

function accepts(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch {
    return false;
  }
}

describe('exact JSON', () => {
  it('reads every JSON value as JSON.parse does', () => {
    assertProperty(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(undefined, 2, '\t'), (text, indent) => {
        const spread = JSON.stringify(JSON.parse(text), null, indent);
        expect(plain(parseExactJson(spread, { depth: 1000, values: 100_000 }))).toEqual(JSON.parse(spread));
      }),
    );
  });

  it('takes as many values as it is told, those inside others and those of objects included', () => {
    const limits = { depth: 32, values: 5 };
    expect(plain(parseExactJson('[1,{"a":[]},2]', limits))).toEqual([1, { a: [] }, 2]);
    expect(() => parseExactJson('[1,{"a":[]},2,3]', limits)).toThrow('more than 5 values at line 1, column 15');
    expect(() => parseExactJson('[1,{"a":[],"a":[]},2]', limits)).toThrow('more than 5 values');
  });

  it('accepts and refuses the same texts as JSON.parse', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u0041"',
      '"\\x"',
      '"',
      '1',
      '-',
      '01',
      '1.',
      '.5',
      '1e',
      '1e+2',
      'true',
      'nul',
      ' ',
      '\n',
      '\u00a0',
      '\u0000',
    );
    assertProperty(
      fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
        const text = tokens.join('');
        expect(accepts(parse, text), text).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 3000 },
    );
  });

  it.each(['9007199254740993', '-0', '1.10', '1e999', '123456789012345678901234567890'])(
    'keeps the number %s as it is written',
    (source) => {
      expect(parse(source)).toEqual(new JsonNumber(source));
    },
  );

  it('takes the last of two values of one key', () => {
    expect(plain(parse('{"a":1,"b":2,"a":3}'))).toEqual({ a: 3, b: 2 });
  });

  it('keeps a key that names the prototype as a key like any other', () => {
    expect([...(parse('{"__proto__":1}') as Map<string, JsonValue>).keys()]).toEqual(['__proto__']);
  });

  it.each([
    ['', 'expected a value at line 1, column 1 (offset 0), where the text ends'],
    ['{"a":x}', 'expected a value at line 1, column 6 (offset 5), where there is "x"'],
    ['{"a":1,\n "b" 2}', 'expected \':\' at line 2, column 6 (offset 13), where there is "2"'],
    ['{a:1}', 'expected a key in double quotes at line 1, column 2 (offset 1), where there is "a"'],
    ['{"a":1', "expected ',' or '}' at line 1, column 7 (offset 6), where the text ends"],
    ['[1,]', 'expected a value at line 1, column 4 (offset 3), where there is "]"'],
    ['[1 2]', "expected ',' or ']' at line 1, column 4 (offset 3), where there is \"2\""],
    ['[1] 🦆', 'expected the end of the text at line 1, column 5 (offset 4), where there is "🦆"'],
    ['["abc', 'a string that does not end begins at line 1, column 2 (offset 1), where there is "\\""'],
    ['["a\\"', 'a string that does not end begins at line 1, column 2 (offset 1), where there is "\\""'],
    ['["a\\', 'a string that does not end begins at line 1, column 2 (offset 1), where there is "\\""'],
    ['["\\q"]', 'a string with a raw control character or an unknown escape begins at line 1, column 2 (offset 1), where there is "\\""'],
    ['["\n"]', 'a string with a raw control character or an unknown escape begins at line 1, column 2 (offset 1), where there is "\\""'],
  ])('says of %j: %s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('reads as many levels as it is told to and refuses one more where it begins', () => {
    expect(plain(parse(`${'['.repeat(32)}${']'.repeat(32)}`))).toBeInstanceOf(Array);
    expect(() => parse(`${'['.repeat(33)}${']'.repeat(33)}`)).toThrow(
      'more than 32 arrays and objects inside one another at line 1, column 33 (offset 32)',
    );
  });

  it('counts open levels, not brackets', () => {
    expect(plain(parse(`[${'[],'.repeat(100)}{}]`))).toHaveLength(101);
  });

  it.each(['[', '{"a":', '[{"a":'])('refuses a megabyte of %s without running out of stack', (bomb) => {
    expect(() => parse(bomb.repeat(1_000_000 / bomb.length))).toThrow('more than 32 arrays and objects');
  });
});

describe('exact integers', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['0.0', 0n],
    ['0e99999', 0n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['-1.50e1', -15n],
    ['1200e-2', 12n],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.000', 9007199254740993n],
    ['900719925474099.3e1', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
  ])('%s is the integer %s', (source, integer) => {
    expect(exactInteger(source)).toBe(integer);
  });

  it('has any number of zeros around its digits', () => {
    expect(exactInteger(`12.${'0'.repeat(1_000_000)}`)).toBe(12n);
    expect(exactInteger(`0.${'0'.repeat(5000)}12e5002`)).toBe(12n);
  });

  it.each(['1.5', '1e-1', '0.1', '9007199254740993.1', '15e-2', '1e-99999999999999999999'])('%s is no integer', (source) => {
    expect(exactInteger(source)).toBeNull();
  });

  it.each([
    ['with a large exponent', '1e999999999'],
    ['with a larger one below zero', '-1e99999999999999999999'],
    ['of too many digits', '9'.repeat(101)],
    ['of far too many digits', `1${'0'.repeat(900_000)}1`],
  ])('a number %s is too large to be looked at', (_, source) => {
    expect(exactInteger(source)).toBeNull();
  });
});

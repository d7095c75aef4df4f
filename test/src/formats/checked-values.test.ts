import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countryCode } from '../../../src/formats/checked-values.ts';
import { instantWriter } from '../../../src/formats/ecs-format.ts';
import { quoteJson } from '../../../src/formats/json-members.ts';
import { memoizeByText } from '../../../src/formats/memoize.ts';
import { assertProperty } from '../../random/assert-property.ts';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

test('249 of the 676 pairs of letters are countries, each of which has a name', () => {
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter((pair) => countryCode(pair) !== undefined);
  expect(codes).toHaveLength(249);
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  expect(codes.filter((code) => names.of(code) === undefined)).toEqual([]);
});

describe('a country is its code in capitals:', () => {
  test.each([
    ['DE', 'DE'],
    ['de', 'DE'],
    ['UK', undefined],
    ['EU', undefined],
    ['XX', undefined],
    ['', undefined],
    ['ﬁ', undefined],
    ['Germany', undefined],
  ])('%s', (text, code) => {
    expect(countryCode(text)).toBe(code);
  });
});

test('a time is written as JavaScript writes it, whichever came before', () => {
  const instant = instantWriter();
  assertProperty(
    fc.property(fc.oneof(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: -8.64e15, max: 8.64e15 })), (ms) => {
      expect(instant(ms)).toBe(new Date(ms).toISOString());
    }),
  );
  expect(instant(9e15)).toBe(new Date(8.64e15).toISOString());
});

test('a text is quoted as JSON.stringify quotes it', () => {
  assertProperty(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii', minLength: 20, maxLength: 60 })), (text) => {
      expect(quoteJson(text)).toBe(JSON.stringify(text));
    }),
  );
});

test('a cache asks once for what it has, forgets all when it is full, and keeps no long texts', () => {
  const asked: string[] = [];
  const lengthOf = memoizeByText(2, (text) => {
    asked.push(text);
    return text.length;
  });
  const long = 'x'.repeat(300);
  expect(['a', 'a', 'b', 'a', long, long, 'c', 'c', 'a'].map(lengthOf)).toEqual([1, 1, 1, 1, 300, 300, 1, 1, 1]);
  expect(asked).toEqual(['a', 'b', long, long, 'c', 'a']);
});

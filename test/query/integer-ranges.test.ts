import { expect, test } from 'vitest';
import { INT64, wholeNumberIn } from '../../query/integer-ranges.ts';

test.each([
  ['the least', '1', 1n],
  ['the greatest', '500', 500n],
  ['with zeros before it', '007', 7n],
  ['less than the least', '0', null],
  ['more than the greatest', '501', null],
  ['below zero', '-1', null],
  ['with a sign', '+5', null],
  ['with a point', '5.0', null],
  ['with an exponent', '1e2', null],
  ['in hexadecimal digits', '0x10', null],
  ['with a blank', ' 5', null],
  ['in digits that are not of ASCII', '٥', null],
  ['of no digits', '', null],
  ['of more digits than any integer of 64 bits has', '00000000000000000005', null],
])('a whole number from 1 to 500: %s', (_, text, value) => {
  expect(wholeNumberIn(text, 1, 500)).toBe(value);
});

test('a whole number past 2^53 stays exact', () => {
  expect(['9223372036854775807', '9223372036854775808'].map((text) => wholeNumberIn(text, 0, INT64.max))).toEqual([INT64.max, null]);
  expect(wholeNumberIn('9007199254740993', 0, Number.MAX_SAFE_INTEGER)).toBeNull();
});

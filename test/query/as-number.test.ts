import { describe, expect, it } from 'vitest';
import { canonicalAsn, withoutAsPrefix } from '../../query/as-number.ts';

describe('autonomous system numbers', () => {
  it.each([
    ['13335', '13335'],
    ['AS13335', '13335'],
    ['as13335', '13335'],
    ['aS0013335', '13335'],
    ['0', '0'],
    ['AS000', '0'],
    ['4294967295', '4294967295'],
  ])('%s is %s', (text, digits) => {
    expect(canonicalAsn(text)).toBe(digits);
  });

  it.each(['', 'AS', 'AS 1', '1.5', '-1', 'ASAS1', 'cloud', '1\n', '١'])('%j is none', (text) => {
    expect(canonicalAsn(text)).toBeNull();
  });

  it.each([
    ['AS133*', '133*'],
    ['as0133', '0133'],
    ['aS1', '1'],
    ['133', '133'],
    ['AS', 'AS'],
    ['AS*', 'AS*'],
    ['ASAS1', 'ASAS1'],
    ['*AS133', '*AS133'],
    ['AS١', 'AS١'],
  ])('a part of one, %s, is looked for as %s', (text, looked) => {
    expect(withoutAsPrefix(text)).toBe(looked);
  });

  it('looks at a megabyte of zeros once', () => {
    expect(canonicalAsn(`${'0'.repeat(1_000_000)}x`)).toBeNull();
  });
});

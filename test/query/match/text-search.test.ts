import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textSearch } from '../../../query/match/text-search.ts';
import { assertProperty } from '../../random/assert-property.ts';

/** Looks for every needle at every offset. */
function plainEndOfFirst(needles: readonly string[], text: string, from: number): number {
  for (let end = from + 1; end <= text.length; end += 1) {
    if (needles.some((needle) => end - needle.length >= from && text.slice(end - needle.length, end) === needle)) return end;
  }
  return -1;
}

/** Few letters, so that needles begin, end and repeat in each other. */
const letters = (most: number) => fc.string({ unit: fc.constantFrom('a', 'b', '\u0130', '\u{1f986}'), maxLength: most });
const needles = fc.array(
  letters(12).filter((text) => text !== ''),
  { minLength: 1, maxLength: 8 },
);

describe('a search for several texts finds the end of the one that ends first', () => {
  test.each([
    ['in short texts', 30],
    ['in texts that are too long to compare with each', 3_000],
  ])('%s, as looking at every offset does', (_, most) => {
    assertProperty(
      fc.property(needles, letters(most), fc.nat(most), (wanted, text, from) => {
        const start = Math.min(from, text.length);
        expect(textSearch(wanted).endOfFirst(text, start)).toBe(plainEndOfFirst(wanted, text, start));
        // A long text behind it takes the other way of searching.
        const long = `${text}${'c'.repeat(5_000)}`;
        expect(textSearch(wanted).endOfFirst(long, start)).toBe(plainEndOfFirst(wanted, text, start));
      }),
    );
  });

  test('also where one text is the end of the beginning of another', () => {
    const behind = 'x'.repeat(5_000);
    expect(textSearch(['abcdefgh', 'cde']).endOfFirst(`abcdef${behind}`, 0)).toBe(5);
    expect(textSearch(['abcdefgh', 'cdx']).endOfFirst(`abcdx${behind}`, 0)).toBe(5);
  });

  test('and costs no more than the characters of the text where they are many', () => {
    for (const wanted of [['ab'], ['a'.repeat(300)], Array.from({ length: 40 }, (_, at) => `${at}${'a'.repeat(300)}`)]) {
      expect(textSearch(wanted).cost(60_000)).toBeLessThanOrEqual(60_000);
    }
  });

  test.each([[[]], [['a', '']]])('%j is refused', (wanted) => {
    expect(() => textSearch(wanted)).toThrow(RangeError);
  });
});

test('five hundred needles that share beginnings are found as each alone would be', () => {
  const needles = Array.from(
    { length: 500 },
    (_, index) => `${String.fromCharCode(0x4e00 + (index % 50))}${'b'.repeat(index % 7)}${index % 3}`,
  );
  const search = textSearch(needles);
  for (const [index, needle] of needles.entries()) {
    const text = `${'\u4e03b'.repeat(20)}${needle}${'~'.repeat(index)}`;
    expect(search.endOfFirst(text, 0)).toBe(plainEndOfFirst(needles, text, 0));
  }
});

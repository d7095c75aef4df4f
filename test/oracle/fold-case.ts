import { remembered } from './remembered.ts';

/**
 * Lower case, one code point at a time, so that no letter's neighbours matter (a final sigma is a sigma) and no letter becomes two.
 * The one code point whose lower case is longer in JavaScript is the capital I with a dot above; its simple mapping is a plain i.
 */
export const foldCase = remembered((text: string): string =>
  Array.from(text, (letter) => (letter === '\u0130' ? 'i' : letter.toLowerCase())).join(''),
);

/** Ascending by code point; JavaScript's own comparison goes by UTF-16 unit, which puts U+1F600 before U+FF5E. */
export function compareCodePoints(a: string, b: string): number {
  // Up to the first letter that differs the same units come before it in both.
  for (let index = 0; index < a.length && index < b.length; index += 1) {
    const difference = (a.codePointAt(index) ?? 0) - (b.codePointAt(index) ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return a.length - b.length;
}

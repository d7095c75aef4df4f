import micromatch from 'micromatch';
import { foldCase } from './fold-case.ts';

/** micromatch makes regular expressions, of which V8 takes none that is very long, and which take for ever on many stars. */
const MAX_LETTERS = 1_000;
const MAX_STARS = 2;

/** Whether the whole value matches the pattern, case-insensitively, `*` being any run. */
export function matchesWildcard(value: string, pattern: string): boolean {
  const [letters, wanted] = [Array.from(foldCase(value)), Array.from(foldCase(pattern).replace(/\*+/g, '*'))];
  const stars = wanted.filter((letter) => letter === '*').length;
  const isShort = stars <= MAX_STARS && wanted.length <= MAX_LETTERS;
  return isShort ? matchesByMicromatch(letters, wanted) : matchesByTable(letters, wanted);
}

/**
 * micromatch gives a meaning to many characters besides the star, so both sides are spelled out in letters and digits first: `a/*` is
 * `vu61wu2fw*`. `u` begins and `w` ends every spelled character and neither is a hexadecimal digit, so a star can only ever stand for whole
 * characters. The `v` keeps both sides from being empty.
 */
function matchesByMicromatch(letters: readonly string[], wanted: readonly string[]): boolean {
  const spell = (letter: string) => `u${(letter.codePointAt(0) ?? 0).toString(16)}w`;
  const spelledPattern = wanted.map((letter) => (letter === '*' ? '*' : spell(letter))).join('');
  return micromatch.isMatch(`v${letters.map(spell).join('')}`, `v${spelledPattern}`);
}

/** For every beginning of the pattern, which beginnings of the value it matches: the plain definition, letter by letter. */
function matchesByTable(letters: readonly string[], wanted: readonly string[]): boolean {
  let matched = new Uint8Array(letters.length + 1);
  matched[0] = 1;
  for (const letter of wanted) {
    const next = new Uint8Array(letters.length + 1);
    for (let length = 0; length <= letters.length; length += 1) {
      const before = length === 0 ? 0 : (letter === '*' ? next[length - 1] : letters[length - 1] === letter && matched[length - 1]) || 0;
      next[length] = Number(before) || (letter === '*' ? (matched[length] ?? 0) : 0);
    }
    matched = next;
  }
  return matched[letters.length] === 1;
}

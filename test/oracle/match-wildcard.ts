import micromatch from 'micromatch';
import { foldCase } from './fold-case.ts';
import { remembered } from './remembered.ts';

/** micromatch makes regular expressions, of which V8 takes none that is very long, and which take for ever on many stars. */
const MAX_LETTERS = 1_000;
const MAX_STARS = 2;

/** Whether the whole value matches the pattern, case-insensitively, `*` being any run. */
export function matchesWildcard(value: string, pattern: string): boolean {
  return matcherOf(pattern)(value);
}

/** A pattern is read once, and then held against many values. */
const matcherOf = remembered((pattern: string): ((value: string) => boolean) => {
  const wanted = Array.from(foldCase(pattern).replace(/\*+/g, '*'));
  const stars = wanted.filter((letter) => letter === '*').length;
  const isShort = stars <= MAX_STARS && wanted.length <= MAX_LETTERS;
  return isShort ? matcherByMicromatch(wanted) : (value) => matchesByTable(Array.from(foldCase(value)), wanted);
});

/**
 * micromatch gives a meaning to many characters besides the star, so both sides are spelled out in letters and digits first: `a/*` is
 * `vu61wu2fw*`. `u` begins and `w` ends every spelled character and neither is a hexadecimal digit, so a star can only ever stand for whole
 * characters. The `v` keeps both sides from being empty.
 */
function matcherByMicromatch(wanted: readonly string[]): (value: string) => boolean {
  const isMatch = micromatch.matcher(`v${wanted.map((letter) => (letter === '*' ? '*' : spelled(letter))).join('')}`);
  return (value) => isMatch(spelledText(value));
}

const spelled = (letter: string) => `u${(letter.codePointAt(0) ?? 0).toString(16)}w`;
const spelledText = remembered((value: string): string => `v${Array.from(foldCase(value), spelled).join('')}`);

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
    if (!next.includes(1)) return false;
    matched = next;
  }
  return matched[letters.length] === 1;
}

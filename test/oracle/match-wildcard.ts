import micromatch from 'micromatch';
import { foldCase } from './fold-case.ts';

/**
 * Whether the whole value matches the pattern, case-insensitively, `*` being any run. micromatch gives a meaning to many characters besides
 * the star, so both sides are spelled out in letters and digits first: `a/*` is `vu61wu2fw*`. `u` begins and `w` ends every spelled
 * character and neither is a hexadecimal digit, so a star can only ever stand for whole characters. The `v` keeps both sides from being empty.
 */
export function matchesWildcard(value: string, pattern: string): boolean {
  const spelledPattern = Array.from(foldCase(pattern), (letter) => (letter === '*' ? '*' : spell(letter))).join('');
  const spelledValue = Array.from(foldCase(value), spell).join('');
  return micromatch.isMatch(`v${spelledValue}`, `v${spelledPattern.replace(/\*+/g, '*')}`);
}

function spell(letter: string): string {
  return `u${(letter.codePointAt(0) ?? 0).toString(16)}w`;
}

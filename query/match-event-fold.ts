/**
 * Letters whose lower case in JavaScript is not the one that the engine has: the capital I with a dot becomes two characters, a sigma depends on
 * its neighbours, and what Unicode 16 and 17 gave a lower case is not known to DuckDB 1.5 yet.
 */
const OWN_WAYS = /[\u0130\u03a3\u1c89\ua7cb-\ua7ce\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;

const EACH_OWN_WAY = new RegExp(OWN_WAYS.source, 'gu');

/** What stands for a letter until everything else is in lower case, so that no rule of JavaScript's sees it. */
const SIMPLE_FOLDS: Readonly<Record<string, string>> = { '\u0130': 'i', '\u03a3': '\u03c3' };

/** Lower case, code point by code point, exactly as `lower` of the engine that searches: the two have to find the same events. */
export function foldText(text: string): string {
  if (!OWN_WAYS.test(text)) {
    return text.toLowerCase();
  }
  const pieces = text.split(EACH_OWN_WAY).map((piece) => piece.toLowerCase());
  const letters = text.match(EACH_OWN_WAY) ?? [];
  return pieces.map((piece, index) => piece + ownFold(letters[index] ?? '')).join('');
}

function ownFold(letter: string): string {
  return SIMPLE_FOLDS[letter] ?? letter;
}

/**
 * Letters whose lower case in JavaScript is not the one that the engine has: the capital I with a dot becomes two characters, a sigma
 * depends on its neighbours, and what Unicode 16 and 17 gave a lower case is not known to DuckDB 1.5 yet.
 */
const OWN_WAYS = /[\u0130\u03a3\u1c89\ua7cb-\ua7ce\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;

/** A run without any of them: the letters with a fold of their own are replaced before. */
const EACH_USUAL_RUN = new RegExp(`${OWN_WAYS.source.replace('[', '[^')}+`, 'gu');

/** Lower case, code point by code point, exactly as `lower` of the engine that searches: the two have to find the same events. */
export function foldText(text: string): string {
  if (!OWN_WAYS.test(text)) {
    return text.toLowerCase();
  }
  const simple = text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3');
  return OWN_WAYS.test(simple) ? simple.replace(EACH_USUAL_RUN, (run) => run.toLowerCase()) : simple.toLowerCase();
}

/** White space, a semicolon, or a comment; one at a time, so that no text takes longer to be read than it is long. */
const SKIPPED = /[\s;]+|--[^\n]*\n|\/\*[\s\S]*?\*\//y;
const KEYWORD = /[A-Z]*/iy;

/** The word that a statement begins with, in capitals; empty where it begins with none. */
export function firstKeyword(sql: string): string {
  let at = 0;
  for (SKIPPED.lastIndex = 0; SKIPPED.test(sql); ) at = SKIPPED.lastIndex;
  KEYWORD.lastIndex = at;
  return KEYWORD.exec(sql)?.[0].toUpperCase() ?? '';
}

import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../query/json-bytes.ts';

/**
 * The index behind the object or list that begins at `at`, however deep it is, by its brackets and strings alone; -1 where it does not
 * end.
 */
export function behindBrackets(body: Uint8Array, at: number): number {
  let depth = 0;
  for (let index = at; index < body.length; index++) {
    const byte = body[index];
    if (byte === QUOTE) {
      index = closingQuote(body, index + 1);
      if (index < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return index + 1;
    }
  }
  return -1;
}

function closingQuote(body: Uint8Array, from: number): number {
  for (let at = from; at < body.length; at++) {
    if (body[at] === BACKSLASH) at++;
    else if (body[at] === QUOTE) return at;
  }
  return -1;
}

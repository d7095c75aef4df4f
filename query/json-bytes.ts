/** Bytes of JSON's grammar (RFC 8259), and of a url. */
export const QUOTE = 0x22;
export const QUESTION_MARK = 0x3f;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const MINUS = 0x2d;
export const DIGIT_0 = 0x30;
export const SPACE = 0x20;
export const TAB = 0x09;
export const NEWLINE = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
const NUL = 0x00;

export function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === NEWLINE || byte === CARRIAGE_RETURN || byte === TAB;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= DIGIT_0 && byte <= DIGIT_0 + 9;
}

export function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    count++;
  }
  return count;
}

/**
 * The index of the first byte from `from` on that is no NUL, the length where there is none. Where a log is cut while it is written, as
 * logrotate's copytruncate does, its next line begins with as many NULs as the log had bytes.
 */
export function behindNuls(bytes: Uint8Array, from = 0): number {
  let at = from;
  while (bytes[at] === NUL) {
    at++;
  }
  return at;
}

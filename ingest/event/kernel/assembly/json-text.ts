/** The bytes of JSON (RFC 8259) that matter here, and what they are made of: blanks, digits, characters and escapes. */

export const QUOTE: u32 = 0x22;
export const BACKSLASH: u32 = 0x5c;
export const COMMA: u32 = 0x2c;
export const COLON: u32 = 0x3a;
export const OPEN_BRACE: u32 = 0x7b;
export const CLOSE_BRACE: u32 = 0x7d;
export const OPEN_BRACKET: u32 = 0x5b;
export const CLOSE_BRACKET: u32 = 0x5d;
export const MINUS: u32 = 0x2d;
export const DOT: u32 = 0x2e;
export const DIGIT_0: u32 = 0x30;
export const SPACE: u32 = 0x20;
export const NEWLINE: u32 = 0x0a;
export const CARRIAGE_RETURN: u32 = 0x0d;

const UNICODE_ESCAPE: u32 = 0x75;

/** Sixteen of one byte in memory. They are loaded from there, because V8 (13.6) makes a constant anew at every use. */
export function sixteen(byte: i8): usize {
  const at = heap.alloc(16);
  v128.store(at, i8x16.splat(byte));
  return at;
}

/**
 * Address of the first byte from `at` on that is no blank. Tabs and newlines do not count as blanks: they are control characters, and the
 * kernel takes no event with one.
 */
export function skipBlanks(at: usize): usize {
  while (load<u8>(at) === SPACE) {
    at++;
  }
  return at;
}

/** Value of a decimal digit; more than 9 where the byte is none. */
export function digitOf(byte: u32): u32 {
  return byte - DIGIT_0;
}

/** Value of a hexadecimal digit of either case; more than 0xff where the byte is none. */
export function hexValue(byte: u32): u32 {
  const digit = digitOf(byte);
  const letter = (byte | 0x20) - 0x61;
  return digit < 10 ? digit : letter < 6 ? letter + 10 : 0x100;
}

/**
 * Address after the UTF-8 character of more than one byte that begins at `at`, or 0 where there is none. The bounds are those of RFC 3629,
 * section 4: no sequence that is longer than it need be, no surrogates, nothing past U+10FFFF.
 */
export function skipCharacter(at: usize): usize {
  const first: u32 = load<u8>(at);
  const second: u32 = load<u8>(at, 1);
  if (first < 0xc2) {
    return 0;
  }
  if (first < 0xe0) {
    return isBetween(second, 0x80, 0xbf) ? at + 2 : 0;
  }
  const third: u32 = load<u8>(at, 2);
  if (first < 0xf0) {
    const isSecond = isBetween(second, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf);
    return isSecond && isBetween(third, 0x80, 0xbf) ? at + 3 : 0;
  }
  const fourth: u32 = load<u8>(at, 3);
  const isSecond = isBetween(second, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf);
  return first < 0xf5 && isSecond && isBetween(third, 0x80, 0xbf) && isBetween(fourth, 0x80, 0xbf) ? at + 4 : 0;
}

function isBetween(byte: u32, low: u32, high: u32): bool {
  return byte - low <= high - low;
}

/**
 * Address after the escape whose backslash is before `at`, or 0 where JSON has no such escape or it is half of a surrogate pair. Those are
 * rare, so the scanner decides whether two halves make a pair.
 */
export function skipEscape(at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte !== UNICODE_ESCAPE) {
    return isShortEscape(byte) ? at + 1 : 0;
  }
  const high = highByte(at);
  const low = lowByte(at);
  const isSurrogate = high >= 0xd8 && high <= 0xdf;
  return (high | low) > 0xff || isSurrogate ? 0 : at + 5;
}

/** Upper byte of the code unit of the escape whose `u` is at `at`; more than 0xff where a digit is missing. */
function highByte(at: usize): u32 {
  return (hexValue(load<u8>(at, 1)) << 4) | hexValue(load<u8>(at, 2));
}

function lowByte(at: usize): u32 {
  return (hexValue(load<u8>(at, 3)) << 4) | hexValue(load<u8>(at, 4));
}

function isShortEscape(byte: u32): bool {
  switch (byte) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return true;
    default:
      return false;
  }
}

/** Length of the valid escape whose backslash is before `at`, the backslash included. */
export function escapeBytes(at: usize): usize {
  return load<u8>(at) === UNICODE_ESCAPE ? 6 : 2;
}

/** Writes the character of the valid escape whose backslash is before `at` to `out`, in UTF-8. Returns the address after it. */
export function writeEscaped(out: usize, at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte !== UNICODE_ESCAPE) {
    store<u8>(out, <u8>shortEscape(byte));
    return out + 1;
  }
  return writeCharacter(out, (highByte(at) << 8) | lowByte(at));
}

function shortEscape(byte: u32): u32 {
  switch (byte) {
    case 0x62: // b
      return 0x08;
    case 0x66: // f
      return 0x0c;
    case 0x6e: // n
      return 0x0a;
    case 0x72: // r
      return 0x0d;
    case 0x74: // t
      return 0x09;
    default:
      return byte;
  }
}

function writeCharacter(out: usize, unit: u32): usize {
  if (unit < 0x80) {
    store<u8>(out, <u8>unit);
    return out + 1;
  }
  const last = 0x80 | (unit & 0x3f);
  if (unit < 0x800) {
    store<u8>(out, <u8>(0xc0 | (unit >> 6)));
    store<u8>(out, <u8>last, 1);
    return out + 2;
  }
  store<u8>(out, <u8>(0xe0 | (unit >> 12)));
  store<u8>(out, <u8>(0x80 | ((unit >> 6) & 0x3f)), 1);
  store<u8>(out, <u8>last, 2);
  return out + 3;
}

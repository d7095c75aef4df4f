import { digitOf } from './json-bytes';

const UNICODE_ESCAPE: u32 = 0x75;

/**
 * `at` is behind a backslash. The place behind the escape, or 0 where it is none of JSON's or is half of a surrogate pair: those are
 * rare, and whether two halves make a pair is not decided here.
 */
export function skipEscape(at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte !== UNICODE_ESCAPE) {
    return isShortEscape(byte) ? at + 1 : 0;
  }
  const high = (hexValue(load<u8>(at, 1)) << 4) | hexValue(load<u8>(at, 2));
  const low = (hexValue(load<u8>(at, 3)) << 4) | hexValue(load<u8>(at, 4));
  const isSurrogate = high >= 0xd8 && high <= 0xdf;
  return (high | low) > 0xff || isSurrogate ? 0 : at + 5;
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

/** The value of a hexadecimal digit of either case; more than 0xff where the byte is none. */
export function hexValue(byte: u32): u32 {
  const digit = digitOf(byte);
  const letter = (byte | 0x20) - 0x61;
  return digit < 10 ? digit : letter < 6 ? letter + 10 : 0x100;
}

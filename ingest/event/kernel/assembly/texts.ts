import { hexValue } from './escapes';
import { sixteen } from './sixteen';

const UNICODE_ESCAPE: u32 = 0x75;
const BACKSLASHES: usize = sixteen(0x5c);

/**
 * Writes to `out` what the text of JSON from `at` up to `end`, its closing quote, means; all escapes in it are known to be ones that the kernel takes. The place behind it; up to 16
 * bytes behind that are written over.
 */
export function copyText(out: usize, at: usize, end: usize): usize {
  const backslash = v128.load(BACKSLASHES);
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const backslashes = i8x16.eq(bytes, backslash);
    let step: usize = 16;
    if (v128.any_true(backslashes)) {
      step = <usize>ctz(i8x16.bitmask(backslashes));
      if (at + step < end) {
        out = writeEscaped(out + step, at + step + 1);
        at += step + escapeBytes(at + step + 1);
        continue;
      }
      step = 16;
    }
    at += step;
    out += step;
  }
  // The last 16 bytes may have gone beyond the end.
  return out - (at - end);
}

/** The length of an escape whose backslash is before `at`, with that. */
function escapeBytes(at: usize): usize {
  return load<u8>(at) === UNICODE_ESCAPE ? 6 : 2;
}

/** Writes the character that is meant by the escape whose backslash is before `at`. The place behind it. */
function writeEscaped(out: usize, at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte !== UNICODE_ESCAPE) {
    store<u8>(out, <u8>shortEscape(byte));
    return out + 1;
  }
  const high = (hexValue(load<u8>(at, 1)) << 4) | hexValue(load<u8>(at, 2));
  const low = (hexValue(load<u8>(at, 3)) << 4) | hexValue(load<u8>(at, 4));
  return writeCharacter(out, (high << 8) | low);
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

/** In UTF-8. The place behind it. */
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

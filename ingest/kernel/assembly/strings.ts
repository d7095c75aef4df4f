import { skipCharacter } from './characters';
import { skipEscape } from './escapes';
import { BACKSLASH, QUOTE, SPACE } from './json-bytes';

/**
 * One bit for each of the 16 bytes from `at` on that is a quote, a backslash, a control character or not ASCII. The last two are what is
 * less than a space when bytes are read as signed.
 */
function endsOfRun(at: usize): i32 {
  const bytes = v128.load(at);
  const quotes = i8x16.eq(bytes, i8x16.splat(<i8>QUOTE));
  const backslashes = i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH));
  const others = i8x16.lt_s(bytes, i8x16.splat(<i8>SPACE));
  return i8x16.bitmask(v128.or(v128.or(quotes, backslashes), others));
}

/** Where the run of ordinary characters ends that begins at `at`. */
function endOfRun(at: usize): usize {
  let ends = endsOfRun(at);
  while (ends === 0) {
    at += 16;
    ends = endsOfRun(at);
  }
  return at + ctz(ends);
}

/** `at` is behind the opening quote. The place behind the closing one, or 0 where this is no string that the kernel takes. */
export function skipString(at: usize): usize {
  const end = endOfRun(at);
  return load<u8>(end) === QUOTE ? end + 1 : skipRestOfString(end);
}

/** The same from a byte on that is not an ordinary character. */
function skipRestOfString(at: usize): usize {
  while (true) {
    const byte: u32 = load<u8>(at);
    if (byte === QUOTE) {
      return at + 1;
    }
    at = byte === BACKSLASH ? skipEscape(at + 1) : skipCharacter(at);
    if (at === 0) {
      return 0;
    }
    at = endOfRun(at);
  }
}

/** The place behind a string in which every byte stands for itself in ASCII, or 0. `at` is behind the opening quote. */
export function skipPlainString(at: usize): usize {
  const end = endOfRun(at);
  return load<u8>(end) === QUOTE ? end + 1 : 0;
}

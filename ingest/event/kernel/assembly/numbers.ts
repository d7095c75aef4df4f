import { DIGIT_0, DOT, digitOf, MINUS } from './json-bytes';

/** What {@link readInteger} read last. */
let integer: u64 = 0;

export function lastInteger(): u64 {
  return integer;
}

/** The place behind an integer without a minus of at most `mostDigits` digits, up to 18, or 0 where there is none. */
export function readInteger(at: usize, mostDigits: usize): usize {
  const start = at;
  let value: u64 = 0;
  let digit = digitOf(load<u8>(at));
  while (digit < 10 && at - start <= mostDigits) {
    value = value * 10 + digit;
    at++;
    digit = digitOf(load<u8>(at));
  }
  const length = at - start;
  const hasLeadingZero = length > 1 && load<u8>(start) === DIGIT_0;
  integer = value;
  return length === 0 || length > mostDigits || hasLeadingZero ? 0 : at;
}

/** The place behind a number of any of JSON's forms, or 0 where there is none. */
export function skipNumber(at: usize): usize {
  if (load<u8>(at) === MINUS) {
    at++;
  }
  at = load<u8>(at) === DIGIT_0 ? at + 1 : skipDigits(at);
  if (at === 0) {
    return 0;
  }
  if (load<u8>(at) === DOT) {
    at = skipDigits(at + 1);
    if (at === 0) {
      return 0;
    }
  }
  return (load<u8>(at) | 0x20) === 0x65 ? skipExponent(at + 1) : at;
}

function skipExponent(at: usize): usize {
  const sign: u32 = load<u8>(at);
  return skipDigits(sign === 0x2b || sign === MINUS ? at + 1 : at);
}

/** The place behind one digit or more, or 0. */
function skipDigits(at: usize): usize {
  if (digitOf(load<u8>(at)) > 9) {
    return 0;
  }
  do {
    at++;
  } while (digitOf(load<u8>(at)) < 10);
  return at;
}

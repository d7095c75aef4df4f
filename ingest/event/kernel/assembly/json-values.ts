import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DIGIT_0,
  DOT,
  digitOf,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipBlanks,
} from './json-text';
import { skipString } from './strings';

/** Numbers, words, objects and arrays. */

/** Value that {@link readInteger} read last. */
let integer: u64 = 0;

export function lastInteger(): u64 {
  return integer;
}

/** Address after an integer without a minus of at most `maxDigits` digits, up to 18; 0 where there is none. */
export function readInteger(at: usize, maxDigits: usize): usize {
  const start = at;
  let value: u64 = 0;
  let digit = digitOf(load<u8>(at));
  while (digit < 10 && at - start <= maxDigits) {
    value = value * 10 + digit;
    at++;
    digit = digitOf(load<u8>(at));
  }
  const length = at - start;
  const hasLeadingZero = length > 1 && load<u8>(start) === DIGIT_0;
  integer = value;
  return length === 0 || length > maxDigits || hasLeadingZero ? 0 : at;
}

/** Address after a number in any of JSON's forms, or 0 where there is none. */
function skipNumber(at: usize): usize {
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

/** Address after one digit or more, or 0. */
function skipDigits(at: usize): usize {
  if (digitOf(load<u8>(at)) > 9) {
    return 0;
  }
  do {
    at++;
  } while (digitOf(load<u8>(at)) < 10);
  return at;
}

/** The words of JSON as they lie in memory, the lowest byte first; the first letter of `false` comes before these. */
const TRUE: u32 = 0x65757274;
const ALSE: u32 = 0x65736c61;
const NULL: u32 = 0x6c6c756e;
const F: u32 = 0x66;

/** A bit for each object or array that is open, 1 for an object; the innermost comes last, and a 1 before the first. */
let open: u64 = 1;

/** Address after the object that begins at `at`, or 0 where the kernel does not take it: it may have 63 levels. */
export function skipObject(at: usize): usize {
  open = 1;
  do {
    const first: u32 = load<u8>(at);
    at = first === OPEN_BRACE || first === OPEN_BRACKET ? enter(at, first === OPEN_BRACE) : skipScalar(at, first);
  } while (at !== 0 && open !== 1);
  return at;
}

/** `at` is an opening bracket. Address of the first member's value, or of what follows an empty object or array. */
function enter(at: usize, isObject: bool): usize {
  if (<i64>open < 0) {
    return 0;
  }
  open = (open << 1) | u64(isObject);
  at = skipBlanks(at + 1);
  if (load<u8>(at) === closingBracket()) {
    return leave(at);
  }
  return isObject ? skipName(at) : at;
}

/** Address of the value after the scalar at `at`; after the outermost bracket where there is none. */
function skipScalar(at: usize, first: u32): usize {
  at = first === QUOTE ? skipString() : skipWordOrNumber(at);
  return at === 0 ? 0 : leave(skipBlanks(at));
}

/** `at` is after a value. Address of the next value; after the outermost bracket where there is none. */
function leave(at: usize): usize {
  while (load<u8>(at) === closingBracket()) {
    open >>= 1;
    if (open === 1) {
      return at + 1;
    }
    at = skipBlanks(at + 1);
  }
  if (load<u8>(at) !== COMMA) {
    return 0;
  }
  at = skipBlanks(at + 1);
  return (open & 1) !== 0 ? skipName(at) : at;
}

function closingBracket(): u32 {
  return (open & 1) !== 0 ? CLOSE_BRACE : CLOSE_BRACKET;
}

/** Steps over a member's name, its colon and the blanks around that. */
function skipName(at: usize): usize {
  if (load<u8>(at) !== QUOTE) {
    return 0;
  }
  at = skipString();
  return at === 0 ? 0 : skipColon(at);
}

/** `at` is after a name. Address of the member's value, or 0. */
export function skipColon(at: usize): usize {
  at = skipBlanks(at);
  return load<u8>(at) === COLON ? skipBlanks(at + 1) : 0;
}

function skipWordOrNumber(at: usize): usize {
  const word = load<u32>(at);
  if (word === TRUE || word === NULL) {
    return at + 4;
  }
  return load<u8>(at) === F && load<u32>(at, 1) === ALSE ? at + 5 : skipNumber(at);
}

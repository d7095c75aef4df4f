import { skipBlanks } from './blanks';
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes';
import { skipNumber } from './numbers';
import { skipString } from './strings';

/** The words of JSON as they lie in memory, the least byte first; the first letter of `false` comes before these. */
const TRUE: u32 = 0x65757274;
const ALSE: u32 = 0x65736c61;
const NULL: u32 = 0x6c6c756e;
const F: u32 = 0x66;

/** A bit for each object or array that is open, 1 for an object; the innermost comes last, and a 1 before the first. */
let open: u64 = 1;

/** The place behind the object that begins at `at`, or 0 where it is none that the kernel takes: deeper than 63 levels is not. */
export function skipObject(at: usize): usize {
  open = 1;
  do {
    const first: u32 = load<u8>(at);
    at = first === OPEN_BRACE || first === OPEN_BRACKET ? enter(at, first === OPEN_BRACE) : skipScalar(at, first);
  } while (at !== 0 && open !== 1);
  return at;
}

/** The place where the value of the first member begins, or where one goes on behind what is empty. `at` is an opening bracket. */
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

/** The place where the next value begins; where there is none, behind the outermost bracket. */
function skipScalar(at: usize, first: u32): usize {
  at = first === QUOTE ? skipString() : skipWordOrNumber(at);
  return at === 0 ? 0 : leave(skipBlanks(at));
}

/** The same from behind a value on. */
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

/** `at` is behind a name. The place where the member's value begins, or 0. */
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

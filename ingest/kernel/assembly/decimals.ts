import { DIGIT_0 } from './json-bytes';

const LONGEST: usize = 20;
/** The digits from the last to the first, at the end of this. */
const DIGITS: usize = memory.data(24);

/** Writes `value` as decimal digits at `at`; the place behind them. */
export function writeDecimal(at: usize, value: u64): usize {
  let first = DIGITS + LONGEST;
  // Words of 32 bits are divided faster: nine digits at a time.
  while (value > 0xffff_ffff) {
    const rest = <u32>(value % 1_000_000_000);
    value /= 1_000_000_000;
    first = writeBackwards(first, rest, 9);
  }
  first = writeBackwards(first, <u32>value, 1);
  const length = DIGITS + LONGEST - first;
  memory.copy(at, first, length);
  return at + length;
}

/** Writes at least `leastDigits` digits that end before `end`; the place of the first. */
function writeBackwards(end: usize, value: u32, leastDigits: usize): usize {
  let at = end;
  while (value !== 0 || end - at < leastDigits) {
    at--;
    store<u8>(at, DIGIT_0 + (value % 10));
    value /= 10;
  }
  return at;
}

import { DIGIT_0 } from './json-bytes';

const LONGEST: usize = 20;
/** The digits, the last one at the end of this. */
const DIGITS: usize = memory.data(24);
/** Two zeros. */
const DIGITS_00: u32 = 0x3030;

/** Writes `value` as decimal digits at `at`; the place behind them. */
export function writeDecimal(at: usize, value: u64): usize {
  let first = DIGITS + LONGEST;
  // Words of 32 bits are divided faster: eight digits at a time.
  while (value > 0xffff_ffff) {
    const rest = value / 100_000_000;
    first = writePairs(first, <u32>(value - rest * 100_000_000));
    value = rest;
  }
  first = writeShort(first, <u32>value);
  const length = DIGITS + LONGEST - first;
  memory.copy(at, first, length);
  return at + length;
}

/** Writes eight digits that end before `end`; the place of the first. */
function writePairs(end: usize, value: u32): usize {
  const first = end - 8;
  while (end !== first) {
    end -= 2;
    writePair(end, value % 100);
    value /= 100;
  }
  return first;
}

/** Writes as many digits as the value has, which end before `end`; the place of the first. */
function writeShort(end: usize, value: u32): usize {
  while (value > 9) {
    end -= 2;
    writePair(end, value % 100);
    value /= 100;
    if (value === 0) {
      return end;
    }
  }
  end--;
  store<u8>(end, DIGIT_0 + value);
  return end;
}

function writePair(at: usize, value: u32): void {
  const tens = value / 10;
  store<u16>(at, DIGITS_00 + tens + ((value - tens * 10) << 8));
}

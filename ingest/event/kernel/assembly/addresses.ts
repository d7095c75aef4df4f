import { COLON, DIGIT_0, DOT, digitOf, hexValue } from './json-text';

/** The halves of the address that was read last, IPv4 as `::ffff:a.b.c.d`. */
let high: u64 = 0;
let low: u64 = 0;

export function lastHigh(): u64 {
  return high;
}

export function lastLow(): u64 {
  return low;
}

const STAR: u32 = 0x2a;

/**
 * True where the bytes up to `end`, a quote, are an address: a dotted quad without leading zeros, or IPv6 as hexadecimal groups alone; or
 * a masked one, with a star for all behind three octets or four groups. The scanner decides on everything else.
 */
export function readAddress(at: usize, end: usize): bool {
  return readDottedQuad(at, end) || readGroups(at, end);
}

function readDottedQuad(at: usize, end: usize): bool {
  let address: u32 = 0;
  let octets = 0;
  while (true) {
    const start = at;
    let octet = digitOf(load<u8>(at));
    if (octet > 9) {
      setIpv4(address << 8);
      return octets === 3 && isLastStar(at, end);
    }
    at++;
    for (let digit = digitOf(load<u8>(at)); digit < 10; digit = digitOf(load<u8>(at))) {
      octet = octet * 10 + digit;
      at++;
      if (octet > 255 || load<u8>(start) === DIGIT_0) {
        return false;
      }
    }
    address = (address << 8) | octet;
    octets++;
    if (octets === 4) {
      setIpv4(address);
      return at === end;
    }
    if (load<u8>(at) !== DOT) {
      return false;
    }
    at++;
  }
}

function setIpv4(address: u32): void {
  high = 0;
  low = 0xffff_0000_0000 | u64(address);
}

function isLastStar(at: usize, end: usize): bool {
  return load<u8>(at) === STAR && at + 1 === end;
}

const GROUPS: i32 = 8;
/** The groups that are written out, 16 bits each. */
const WRITTEN: usize = memory.data(2 * 8, 2);

/** Two colons, as they lie in memory. */
const GAP: u32 = 0x3a3a;

/** Eight groups of up to four digits; one `::` stands for at least one group of zeros. */
function readGroups(at: usize, end: usize): bool {
  let count = 0;
  let gapAt = -1;
  if (load<u16>(at) === GAP) {
    gapAt = 0;
    at += 2;
  }
  while (at < end) {
    const start = at;
    at = count < GROUPS ? readGroup(at, count) : 0;
    if (at === 0) {
      return isMaskedAt(start, end, count, gapAt);
    }
    count++;
    if (gapAt < 0 && load<u16>(at) === GAP) {
      gapAt = count;
      at += 2;
    } else if (at !== end) {
      // One colon, which another group has to follow.
      at = load<u8>(at) === COLON ? at + 1 : end;
      if (at === end) {
        return false;
      }
    }
  }
  const zeros = GROUPS - count;
  if (gapAt < 0 ? zeros !== 0 : zeros < 1) {
    return false;
  }
  high = fourGroups(0, gapAt, zeros);
  low = fourGroups(4, gapAt, zeros);
  return true;
}

/** A star at `at` is all behind four groups, which a gap may follow. */
function isMaskedAt(at: usize, end: usize, count: i32, gapAt: i32): bool {
  high = fourGroups(0, -1, 0);
  low = 0;
  return count === 4 && (gapAt < 0 || gapAt === 4) && isLastStar(at, end);
}

/** Reads the group that begins at `at` into `WRITTEN`; returns the address after it, or 0 where there is none. */
function readGroup(at: usize, index: i32): usize {
  const start = at;
  let group: u32 = 0;
  let digit = hexValue(load<u8>(at));
  while (digit < 16 && at - start < 4) {
    group = (group << 4) | digit;
    at++;
    digit = hexValue(load<u8>(at));
  }
  store<u16>(WRITTEN + 2 * index, <u16>group);
  return at === start ? 0 : at;
}

/** Four groups from `first` on; the gap stands for `zeros` groups. */
function fourGroups(first: i32, gapAt: i32, zeros: i32): u64 {
  let word: u64 = 0;
  for (let group = first; group < first + 4; group++) {
    const isWritten = zeros === 0 || group < gapAt || group >= gapAt + zeros;
    const written = zeros === 0 || group < gapAt ? group : group - zeros;
    word = (word << 16) | (isWritten ? u64(load<u16>(WRITTEN + 2 * written)) : 0);
  }
  return word;
}

/** Bits and numbers of few bits in memory, the lowest bit of each byte first. */

/** Whether the bit is set, of bits that lie eight to a byte. */
export function hasBit(bits: usize, index: u32): bool {
  return ((load<u8>(bits + (index >> 3)) >>> (index & 7)) & 1) === 1;
}

/** Address of the next byte, and the bits that do not fill one yet. */
let at: usize = 0;
let pending: u64 = 0;
let pendingBits: u64 = 0;

/** Begins to write numbers bit by bit from `start` on; eight numbers of one width fill whole bytes. */
export function beginBits(start: usize): void {
  at = start;
  pending = 0;
  pendingBits = 0;
}

/** Writes a value of at most `width` bits, 32 at the most. */
export function writeBits(value: u64, width: u64): void {
  pending |= value << pendingBits;
  pendingBits += width;
  if (pendingBits >= 32) {
    store<u32>(at, <u32>pending);
    at += 4;
    pending >>= 32;
    pendingBits -= 32;
  }
}

/** Fills up the last byte with zeros; returns the address after it. */
export function endBits(): usize {
  for (; pendingBits > 0; pendingBits = pendingBits > 8 ? pendingBits - 8 : 0) {
    store<u8>(at, <u8>pending);
    at++;
    pending >>= 8;
  }
  return at;
}

/** Number of bits that a number takes. */
export function widthOf(value: u64): u32 {
  return 64 - <u32>clz(value);
}

/** Writes a number with seven bits to a byte, the lowest first. Returns the address after it. */
export function writeVarint(start: usize, value: u64): usize {
  let end = start;
  for (; value >= 0x80; value >>= 7) {
    store<u8>(end, <u8>value | 0x80);
    end++;
  }
  store<u8>(end, <u8>value);
  return end + 1;
}

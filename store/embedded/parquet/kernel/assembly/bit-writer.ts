/** Numbers are written bit by bit behind one another, the lowest bit of each first; eight of them fill whole bytes. */

let at: usize = 0;
let pending: u64 = 0;
let pendingBits: u64 = 0;

export function beginBits(start: usize): void {
  at = start;
  pending = 0;
  pendingBits = 0;
}

/** At most 32 bits, which the value has no more than. */
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

/** Fills up the last byte with zeros; returns where it ends. */
export function endBits(): usize {
  for (; pendingBits > 0; pendingBits = pendingBits > 8 ? pendingBits - 8 : 0) {
    store<u8>(at, <u8>pending);
    at++;
    pending >>= 8;
  }
  return at;
}

/** How many bits a number takes. */
export function widthOf(value: u64): u32 {
  return 64 - <u32>clz(value);
}

/** Seven bits to a byte, the lowest first. Returns where the number ends. */
export function writeVarint(start: usize, value: u64): usize {
  let end = start;
  for (; value >= 0x80; value >>= 7) {
    store<u8>(end, <u8>value | 0x80);
    end++;
  }
  store<u8>(end, <u8>value);
  return end + 1;
}

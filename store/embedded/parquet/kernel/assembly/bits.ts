/** Of bits that lie eight to a byte, the first lowest. */
export function hasBit(bits: usize, place: u32): bool {
  return ((load<u8>(bits + (place >> 3)) >>> (place & 7)) & 1) === 1;
}

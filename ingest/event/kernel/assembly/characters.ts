/**
 * The place behind the character of more than one byte in UTF-8 (RFC 3629) that begins at `at`, or 0 where there is none. The tables are
 * those of its section 4: no sequence that is longer than it need be, no surrogates, nothing past U+10FFFF.
 */
export function skipCharacter(at: usize): usize {
  const first: u32 = load<u8>(at);
  const second: u32 = load<u8>(at, 1);
  if (first < 0xc2) {
    return 0;
  }
  if (first < 0xe0) {
    return isBetween(second, 0x80, 0xbf) ? at + 2 : 0;
  }
  const third: u32 = load<u8>(at, 2);
  if (first < 0xf0) {
    const isSecond = isBetween(second, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf);
    return isSecond && isBetween(third, 0x80, 0xbf) ? at + 3 : 0;
  }
  const fourth: u32 = load<u8>(at, 3);
  const isSecond = isBetween(second, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf);
  return first < 0xf5 && isSecond && isBetween(third, 0x80, 0xbf) && isBetween(fourth, 0x80, 0xbf) ? at + 4 : 0;
}

function isBetween(byte: u32, least: u32, most: u32): bool {
  return byte - least <= most - least;
}

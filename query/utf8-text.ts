/** The text of UTF-8 bytes, a byte order mark at the start left out; a number is the offset of the first byte that is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | number {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return firstBadByte(bytes);
  }
}

/** Decoding leniently puts U+FFFD in place of what is bad, so what comes back differs first where the bytes are bad. */
function firstBadByte(bytes: Uint8Array): number {
  const repaired = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const differing = repaired.findIndex((byte, index) => byte !== bytes[index]);
  return differing === -1 ? bytes.length : differing;
}

const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;
const LONGEST_CHARACTER = 4;

/** Up to so many bytes from the start, without the beginning of a character of UTF-8 that would be cut in two. */
export function textStart(bytes: Uint8Array, most: number): Uint8Array {
  let end = Math.min(most, bytes.length);
  while (end < bytes.length && end > most - LONGEST_CHARACTER && (bytes[end]! & CONTINUATION_MASK) === CONTINUATION) {
    end -= 1;
  }
  return bytes.subarray(0, end);
}

const [PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1];

const STRIPE_BYTES = 16;

/** The xxHash of 32 bits with the seed 0, as an unsigned number (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md). */
export function xxh32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const word = (at: number): number => view.getInt32(at, true);
  let at = 0;
  let hash = PRIME_5;
  if (bytes.length >= STRIPE_BYTES) {
    let [a, b, c, d] = [(PRIME_1 + PRIME_2) | 0, PRIME_2 | 0, 0, -PRIME_1 | 0];
    for (; at + STRIPE_BYTES <= bytes.length; at += STRIPE_BYTES) {
      a = mixed(a, word(at));
      b = mixed(b, word(at + 4));
      c = mixed(c, word(at + 8));
      d = mixed(d, word(at + 12));
    }
    hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
  }
  hash = (hash + bytes.length) | 0;
  for (; at + 4 <= bytes.length; at += 4) {
    hash = Math.imul(rotated((hash + Math.imul(word(at), PRIME_3)) | 0, 17), PRIME_4);
  }
  for (; at < bytes.length; at++) {
    hash = Math.imul(rotated((hash + Math.imul(view.getUint8(at), PRIME_5)) | 0, 11), PRIME_1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mixed(lane: number, word: number): number {
  return Math.imul(rotated((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

/** The polynomial of Castagnoli, with its bits in reverse. Node's `crc32` has another one. */
const POLYNOMIAL = 0x82f63b78;

/** The first table is for one byte; each of the others for a byte that has one more byte behind it. */
const TABLES = tables(8);

function tables(count: number): readonly Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ ((value & 1) === 0 ? 0 : POLYNOMIAL);
    return value;
  });
  const made = [first];
  for (let last = first; made.length < count; made.push(last)) {
    last = last.map((value) => (value >>> 8) ^ (first[value & 0xff] as number));
  }
  return made;
}

/** The CRC-32C (RFC 3720, B.4) of the bytes, as an unsigned number. It takes eight bytes at a time, four times as fast as one by one. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as unknown as readonly [U, U, U, U, U, U, U, U];
  const byte = (at: number): number => bytes[at] as number;
  const entry = (table: U, index: number): number => table[index & 0xff] as number;
  const whole = bytes.length - (bytes.length % 8);
  let crc = 0xffffffff;
  let at = 0;
  for (; at < whole; at += 8) {
    const low = crc ^ (byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24));
    crc =
      entry(t7, low) ^
      entry(t6, low >>> 8) ^
      entry(t5, low >>> 16) ^
      entry(t4, low >>> 24) ^
      entry(t3, byte(at + 4)) ^
      entry(t2, byte(at + 5)) ^
      entry(t1, byte(at + 6)) ^
      entry(t0, byte(at + 7));
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ entry(t0, crc ^ byte(at));
  return ~crc >>> 0;
}

type U = Uint32Array;

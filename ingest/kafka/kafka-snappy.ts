import snappy from 'snappyjs';

/** The header that the Java client's snappy stream (xerial) begins with: a magic of 8 bytes, then two int32 versions. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/**
 * Snappy as it comes in Kafka: Java producers send a run of blocks with a length (int32, big-endian) before each, others one bare block.
 * Throws when the bytes are neither.
 */
export function uncompressSnappy(compressed: Buffer): Buffer {
  if (!XERIAL_MAGIC.equals(compressed.subarray(0, XERIAL_MAGIC.byteLength))) {
    return snappy.uncompress(compressed) as Buffer;
  }
  const blocks: Buffer[] = [];
  let offset = XERIAL_HEADER_BYTES;
  while (offset < compressed.byteLength) {
    const start = offset + 4;
    const end = start + compressed.readInt32BE(offset);
    if (end <= start || end > compressed.byteLength) {
      throw new RangeError(`a snappy block at byte ${offset} ends at byte ${end}, outside its ${compressed.byteLength} bytes`);
    }
    blocks.push(snappy.uncompress(compressed.subarray(start, end)) as Buffer);
    offset = end;
  }
  return blocks.length === 1 ? (blocks[0] as Buffer) : Buffer.concat(blocks);
}

/** One bare block, which every consumer reads. */
export function compressSnappy(plain: Buffer): Buffer {
  return snappy.compress(plain);
}

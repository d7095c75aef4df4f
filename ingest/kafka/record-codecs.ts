import { crc32, inflateRawSync, type ZstdOptions, zstdDecompressSync } from 'node:zlib';
import { decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';

/** A batch may unpack to so many bytes: 32 KB of zstd can be 1 GiB. */
export const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Packed records cannot be unpacked. The message is the end of a sentence about them. */
export class UnpackFailed extends Error {
  override readonly name = 'UnpackFailed';
}

/** A frame, a member or a block, and how many of the packed bytes it takes. */
interface Part {
  readonly plain: Uint8Array;
  readonly packedBytes: number;
}

interface RecordCodec {
  readonly name: string;
  /**
   * Unpacks the part at the beginning of `packed`, or throws; null where the format has an end, and something else follows. `room` is how
   * long it may be, and at least 1. `isFirst` is true of the first part.
   */
  readonly unpackPart: (packed: Buffer, room: number, isFirst: boolean) => Part | null;
}

/** The compressions by their numbers in the attributes of a batch. */
const CODECS: Readonly<Record<number, RecordCodec>> = {
  1: { name: 'gzip', unpackPart: gzipMember },
  2: { name: 'snappy', unpackPart: snappyBlock },
  3: { name: 'lz4', unpackPart: lz4Frame },
  4: { name: 'zstd', unpackPart: zstdFrame },
};

const NOTHING = new Uint8Array(0);

/**
 * Unpacks the records of a batch: any number of gzip members, lz4 or zstd frames (skippable ones are passed over), and xerial streams of
 * snappy, as the Java consumer reads them. On the calling thread, because a batch takes only a millisecond, while queries may hold all
 * threads of libuv for seconds. Throws UnpackFailed.
 */
export function unpackRecords(codec: number, packed: Buffer): Buffer {
  const found = CODECS[codec];
  if (found === undefined) {
    throw new UnpackFailed(`has the compression ${codec}; allowed: 0 (none) to 4 (zstd)`);
  }
  const parts: Uint8Array[] = [];
  let [at, size] = [0, 0];
  while (at < packed.length) {
    const part = unpackPart(found, packed.subarray(at), MAX_UNPACKED_BYTES - size, at);
    if (part === null) break;
    parts.push(part.plain);
    size += part.plain.length;
    at += part.packedBytes;
  }
  return Buffer.concat(parts, size);
}

function unpackPart({ name, unpackPart }: RecordCodec, packed: Buffer, room: number, at: number): Part | null {
  try {
    const part = unpackPart(packed, Math.max(room, 1), at === 0);
    if (part === null || part.plain.length <= room) return part;
  } catch (error) {
    if (!isTooLong(error)) {
      throw new UnpackFailed(`has ${name} data that cannot be unpacked behind byte ${at}: ${(error as Error).message}`, { cause: error });
    }
  }
  throw new UnpackFailed(`unpacks to more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MiB of ${name}`);
}

/** The part is longer than its room. */
class TooLong extends Error {}

function isTooLong(error: unknown): boolean {
  return error instanceof TooLong || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
}

/** What Node's functions return where `info` is set, which their types lack. `bytesWritten` is what of the input was read. */
interface WithInfo {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** A frame of zstd (RFC 8878); of a skippable one nothing is left. Node stops behind the first frame. */
function zstdFrame(packed: Buffer, room: number): Part {
  const { buffer, engine } = zstdDecompressSync(packed, { info: true, maxOutputLength: room } as ZstdOptions) as unknown as WithInfo;
  if (engine.bytesWritten === 0) throw new RangeError('a frame ends before it begins');
  return { plain: buffer, packedBytes: engine.bytesWritten };
}

const GZIP_MAGIC = 0x1f8b08;
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;
const [GZIP_HEADER_CRC, GZIP_EXTRA, GZIP_NAME, GZIP_COMMENT] = [2, 4, 8, 16];

/** A member of gzip (RFC 1952). Behind the first, anything that is no further member is passed over, as Java does it. */
function gzipMember(packed: Buffer, room: number, isFirst: boolean): Part | null {
  if (packed.length < GZIP_HEADER_BYTES || packed.readUIntBE(0, 3) !== GZIP_MAGIC) {
    if (isFirst) throw new RangeError('it has no header of gzip');
    return null;
  }
  const start = endOfGzipHeader(packed);
  const { buffer, engine } = inflateRawSync(packed.subarray(start), { info: true, maxOutputLength: room }) as unknown as WithInfo;
  const end = start + engine.bytesWritten;
  if (packed.readUInt32LE(end) !== crc32(buffer) || packed.readUInt32LE(end + 4) !== buffer.length) {
    throw new RangeError('its bytes are not those that its CRC-32 and its length are of');
  }
  return { plain: buffer, packedBytes: end + GZIP_TRAILER_BYTES };
}

function endOfGzipHeader(packed: Buffer): number {
  const flags = packed.readUInt8(3);
  let end = GZIP_HEADER_BYTES;
  const passText = (): void => {
    const nul = packed.indexOf(0, end);
    if (nul < 0) throw new RangeError('its header is cut off');
    end = nul + 1;
  };
  if ((flags & GZIP_EXTRA) !== 0) end += 2 + packed.readUInt16LE(end);
  if ((flags & GZIP_NAME) !== 0) passText();
  if ((flags & GZIP_COMMENT) !== 0) passText();
  if ((flags & GZIP_HEADER_CRC) !== 0) end += 2;
  return end;
}

/** The header of xerial, the Java client's framing of snappy: a magic of 8 bytes, then two int32 versions. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/**
 * A piece of snappy as Kafka's producers send it: Java's in xerial's framing (blocks, each after its length as a big-endian int32, and
 * further headers where streams follow one another), others as one bare block.
 */
function snappyBlock(packed: Buffer, room: number, isFirst: boolean): Part {
  if (XERIAL_MAGIC.equals(packed.subarray(0, XERIAL_MAGIC.length))) {
    if (packed.length < XERIAL_HEADER_BYTES) throw new RangeError('its header is cut off');
    return { plain: NOTHING, packedBytes: XERIAL_HEADER_BYTES };
  }
  if (isFirst) return { plain: uncompressSnappy(packed, room), packedBytes: packed.length };
  const length = packed.readInt32BE(0);
  if (length <= 0 || length > packed.length - 4) {
    throw new RangeError(`a block has ${length} bytes; allowed: 1 to the ${packed.length - 4} that there are`);
  }
  return { plain: uncompressSnappy(packed.subarray(4, 4 + length), room), packedBytes: 4 + length };
}

function uncompressSnappy(block: Buffer, room: number): Buffer {
  if (snappyLength(block) > room) throw new TooLong();
  return snappy.uncompress(block) as Buffer;
}

/** The length of a block once it is unpacked, which it begins with: seven bits in each byte, the lowest first. */
function snappyLength(block: Buffer): number {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = block[index] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  return length;
}

const LZ4_MAGIC = 0x184d2204;
const [LZ4_DICTIONARY, LZ4_CONTENT_CHECKSUM, LZ4_CONTENT_SIZE, LZ4_BLOCK_CHECKSUMS] = [1, 4, 8, 16];
const LZ4_STORED_BLOCK = 0x80000000;

/**
 * A frame of lz4; of a skippable one nothing is left. The library unpacks the first frame and does not say where it ends. It has no limit
 * either, so what the blocks unpack to is counted first. Anything else behind the first frame is passed over, as Java does it.
 */
function lz4Frame(packed: Buffer, room: number, isFirst: boolean): Part | null {
  const magic = packed.length < 4 ? 0 : packed.readUInt32LE(0);
  if (magic >>> 4 === 0x184d2a5) {
    const packedBytes = 8 + packed.readUInt32LE(4);
    if (packedBytes > packed.length) throw new RangeError('a skippable frame is cut off');
    return { plain: NOTHING, packedBytes };
  }
  if (magic !== LZ4_MAGIC) {
    if (isFirst) throw new RangeError('it has no frame of lz4');
    return null;
  }
  const flags = packed.readUInt8(4);
  let end = 7 + ((flags & LZ4_CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & LZ4_DICTIONARY) === 0 ? 0 : 4);
  let plainBytes = 0;
  for (let size = packed.readUInt32LE(end); size !== 0; size = packed.readUInt32LE(end)) {
    const isStored = size >= LZ4_STORED_BLOCK;
    const start = end + 4;
    end = start + (isStored ? size - LZ4_STORED_BLOCK : size);
    plainBytes += isStored ? end - start : lz4BlockLength(packed.subarray(start, end));
    if (plainBytes > room) throw new TooLong();
    end += (flags & LZ4_BLOCK_CHECKSUMS) === 0 ? 0 : 4;
  }
  end += 4 + ((flags & LZ4_CONTENT_CHECKSUM) === 0 ? 0 : 4);
  return { plain: decompressFrameSync(packed.subarray(0, end)), packedBytes: end };
}

/** What the sequences of a block unpack to. Each has literals, and repeats bytes that came before. */
function lz4BlockLength(block: Buffer): number {
  let [at, length] = [0, 0];
  const lengthOf = (bits: number): number => {
    let value = bits;
    for (let byte = bits === 15 ? 255 : 0; byte === 255; value += byte) byte = block[at++] ?? 0;
    return value;
  };
  while (at < block.length) {
    const token = block[at++] ?? 0;
    const literals = lengthOf(token >>> 4);
    length += literals;
    at += literals;
    if (at >= block.length) break;
    at += 2;
    length += lengthOf(token & 15) + 4;
  }
  return length;
}

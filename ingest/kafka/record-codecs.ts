import { crc32, inflateRawSync, type ZstdOptions, zstdDecompressSync } from 'node:zlib';
import snappy from 'snappyjs';
import { unpackLz4Frame } from './lz4-frame.ts';
import { MAX_UNPACKED_BYTES, TooLong, UnpackedBytes } from './unpacked-bytes.ts';

/** Packed records cannot be unpacked. The message is the end of a sentence about them. */
export class UnpackFailed extends Error {
  override readonly name = 'UnpackFailed';
}

interface RecordCodec {
  readonly name: string;
  /**
   * Unpacks the frame, member or block at the beginning of `packed` into `plain`, and returns how many bytes it takes, or throws; null
   * where the format has an end, and something else follows. `isFirst` is true of the first one.
   */
  readonly unpackPart: (packed: Buffer, plain: UnpackedBytes, isFirst: boolean) => number | null;
}

/** The compressions by their numbers in the attributes of a batch. */
const CODECS: Readonly<Record<number, RecordCodec>> = {
  1: { name: 'gzip', unpackPart: gzipMember },
  2: { name: 'snappy', unpackPart: snappyBlock },
  3: { name: 'lz4', unpackPart: lz4Frame },
  4: { name: 'zstd', unpackPart: zstdFrame },
};

const unpacked = new UnpackedBytes();

/**
 * Unpacks the records of a batch: any number of gzip members, lz4 or zstd frames (skippable ones are passed over), and xerial streams of
 * snappy, as the Java consumer reads them. On the calling thread, because a batch takes only a millisecond, while queries may hold all
 * threads of libuv for seconds. The bytes are there until the next call. Throws UnpackFailed.
 */
export function unpackRecords(codec: number, packed: Buffer): Buffer {
  const found = CODECS[codec];
  if (found === undefined) {
    throw new UnpackFailed(`has the compression ${codec}; allowed: 0 (none) to 4 (zstd)`);
  }
  try {
    for (let at = 0; at < packed.length; ) {
      const taken = unpackPart(found, packed.subarray(at), at);
      if (taken === null) break;
      at += taken;
    }
    return unpacked.take();
  } finally {
    unpacked.clear();
  }
}

function unpackPart({ name, unpackPart }: RecordCodec, packed: Buffer, at: number): number | null {
  try {
    return unpackPart(packed, unpacked, at === 0);
  } catch (error) {
    if (isTooLong(error)) throw new UnpackFailed(`unpacks to more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MiB of ${name}`);
    throw new UnpackFailed(`has ${name} data that cannot be unpacked behind byte ${at}: ${(error as Error).message}`, { cause: error });
  }
}

function isTooLong(error: unknown): boolean {
  return error instanceof TooLong || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
}

/** Node's functions take no limit of 0. */
const maxOutputLength = ({ room }: UnpackedBytes): number => Math.max(room, 1);

/** What Node's functions return where `info` is set, which their types lack. `bytesWritten` is what of the input was read. */
interface WithInfo {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** A frame of zstd (RFC 8878); of a skippable one nothing is left. Node stops behind the first frame. */
function zstdFrame(packed: Buffer, plain: UnpackedBytes): number {
  const options = { info: true, maxOutputLength: maxOutputLength(plain) } as ZstdOptions;
  const { buffer, engine } = zstdDecompressSync(packed, options) as unknown as WithInfo;
  if (engine.bytesWritten === 0) throw new RangeError('a frame ends before it begins');
  plain.add(buffer);
  return engine.bytesWritten;
}

const GZIP_MAGIC = 0x1f8b08;
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;
const [GZIP_HEADER_CRC, GZIP_EXTRA, GZIP_NAME, GZIP_COMMENT] = [2, 4, 8, 16];

/** A member of gzip (RFC 1952). Behind the first, anything that is no further member is passed over, as Java does it. */
function gzipMember(packed: Buffer, plain: UnpackedBytes, isFirst: boolean): number | null {
  if (packed.length < GZIP_HEADER_BYTES || packed.readUIntBE(0, 3) !== GZIP_MAGIC) {
    if (isFirst) throw new RangeError('it has no header of gzip');
    return null;
  }
  const start = endOfGzipHeader(packed);
  const options = { info: true, maxOutputLength: maxOutputLength(plain) };
  const { buffer, engine } = inflateRawSync(packed.subarray(start), options) as unknown as WithInfo;
  const end = start + engine.bytesWritten;
  if (packed.readUInt32LE(end) !== crc32(buffer) || packed.readUInt32LE(end + 4) !== buffer.length) {
    throw new RangeError('its bytes are not those that its CRC-32 and its length are of');
  }
  plain.add(buffer);
  return end + GZIP_TRAILER_BYTES;
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
function snappyBlock(packed: Buffer, plain: UnpackedBytes, isFirst: boolean): number {
  if (XERIAL_MAGIC.equals(packed.subarray(0, XERIAL_MAGIC.length))) {
    if (packed.length < XERIAL_HEADER_BYTES) throw new RangeError('its header is cut off');
    return XERIAL_HEADER_BYTES;
  }
  if (isFirst) {
    plain.add(uncompressSnappy(packed, plain.room));
    return packed.length;
  }
  const length = packed.readInt32BE(0);
  if (length <= 0 || length > packed.length - 4) {
    throw new RangeError(`a block has ${length} bytes; allowed: 1 to the ${packed.length - 4} that there are`);
  }
  plain.add(uncompressSnappy(packed.subarray(4, 4 + length), plain.room));
  return 4 + length;
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

/** A frame of lz4; of a skippable one nothing is left. Anything else behind the first frame is passed over, as Java does it. */
function lz4Frame(packed: Buffer, plain: UnpackedBytes, isFirst: boolean): number | null {
  const magic = packed.length < 4 ? 0 : packed.readUInt32LE(0);
  if (magic >>> 4 === 0x184d2a5) {
    const packedBytes = 8 + packed.readUInt32LE(4);
    if (packedBytes > packed.length) throw new RangeError('a skippable frame is cut off');
    return packedBytes;
  }
  if (magic !== LZ4_MAGIC) {
    if (isFirst) throw new RangeError('it has no frame of lz4');
    return null;
  }
  return unpackLz4Frame(packed, plain);
}

import { uncompressSync } from 'lz4-napi';
import type { UnpackedBytes } from './unpacked-bytes.ts';
import { xxh32 } from './xxh32.ts';

const [FLAGS_AT, SIZE_CODE_AT, CONTENT_SIZE_AT] = [4, 5, 6];
const [DICTIONARY, RESERVED, CONTENT_CHECKSUM, CONTENT_SIZE, BLOCK_CHECKSUMS, INDEPENDENT, VERSION] = [1, 2, 4, 8, 16, 32, 0xc0];
const VERSION_1 = 0x40;
const RESERVED_OF_SIZE_CODE = 0x8f;
const STORED_BLOCK = 0x80000000;
/** How far back a block may refer to the blocks before it. */
const WINDOW_BYTES = 64 * 1024;
/** The smallest of the most bytes that blocks may have. The library clears as many bytes as it is told, which takes long for more. */
const SMALLEST_MAX_BYTES = 64 * 1024;

interface FrameHeader {
  readonly flags: number;
  readonly maxBlockBytes: number;
  /** Null where the frame does not tell it. */
  readonly contentBytes: bigint | null;
  /** Where the first block begins. */
  readonly end: number;
}

const NOTHING = Buffer.alloc(0);
/** The block that is unpacked, behind the length that the library is to expect. */
let input = NOTHING;

/**
 * Unpacks the frame of lz4 at the beginning of `packed`, behind whose magic there may be anything, and returns how many bytes it takes
 * (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md). All of its checksums and lengths are checked. The library's own function
 * for frames lets its memory grow with each frame, which takes more than twice as long. Throws RangeError, TooLong, and what the library
 * throws.
 */
export function unpackLz4Frame(packed: Buffer, plain: UnpackedBytes): number {
  const { flags, maxBlockBytes, contentBytes, end } = readHeader(packed);
  const first = plain.length;
  let at = end;
  for (let told = packed.readUInt32LE(at); told !== 0; told = packed.readUInt32LE(at)) {
    const isStored = told >= STORED_BLOCK;
    const start = at + 4;
    at = start + (isStored ? told - STORED_BLOCK : told);
    if (at - start > maxBlockBytes) throw new RangeError(`a block has ${at - start} bytes; allowed: up to ${maxBlockBytes}`);
    if (at > packed.length) throw new RangeError('a block is cut off');
    const block = packed.subarray(start, at);
    if ((flags & BLOCK_CHECKSUMS) !== 0) {
      checkHash('a block', block, packed.readUInt32LE(at));
      at += 4;
    }
    const before = (flags & INDEPENDENT) !== 0 ? NOTHING : plain.from(Math.max(first, plain.length - WINDOW_BYTES));
    plain.add(isStored ? block : unpackBlock(block, maxBlockBytes, before));
  }
  at += 4;
  const size = plain.length - first;
  if (contentBytes !== null && contentBytes !== BigInt(size)) {
    throw new RangeError(`a frame unpacks to ${size} bytes and not to ${contentBytes}, as its header has it`);
  }
  if ((flags & CONTENT_CHECKSUM) !== 0) {
    checkHash('a frame', plain.from(first), packed.readUInt32LE(at));
    at += 4;
  }
  return at;
}

function readHeader(packed: Buffer): FrameHeader {
  const [flags, sizeCode] = [packed.readUInt8(FLAGS_AT), packed.readUInt8(SIZE_CODE_AT)];
  if ((flags & VERSION) !== VERSION_1 || (flags & RESERVED) !== 0 || (sizeCode & RESERVED_OF_SIZE_CODE) !== 0 || sizeCode < 0x40) {
    throw new RangeError(`a frame has the header ${flags.toString(16)} ${sizeCode.toString(16)}, which is of no known form`);
  }
  if ((flags & DICTIONARY) !== 0) throw new RangeError('a frame needs a dictionary');
  const contentBytes = (flags & CONTENT_SIZE) === 0 ? null : packed.readBigUInt64LE(CONTENT_SIZE_AT);
  const hashAt = CONTENT_SIZE_AT + (contentBytes === null ? 0 : 8);
  if (packed.readUInt8(hashAt) !== ((xxh32(packed.subarray(FLAGS_AT, hashAt)) >>> 8) & 0xff)) {
    throw new RangeError("a frame's header is not the one that its checksum is of");
  }
  // 64 KiB, 256 KiB, 1 MiB or 4 MiB.
  return { flags, maxBlockBytes: SMALLEST_MAX_BYTES * 4 ** ((sizeCode >>> 4) - 4), contentBytes, end: hashAt + 1 };
}

function checkHash(what: string, bytes: Uint8Array, told: number): void {
  if (xxh32(bytes) !== told) throw new RangeError(`the bytes of ${what} are not those that its checksum is of`);
}

/** `before` is what the block may refer to. */
function unpackBlock(block: Buffer, maxBytes: number, before: Buffer): Uint8Array {
  if (input.length < 4 + block.length) input = Buffer.allocUnsafeSlow(4 + maxBytes);
  input.writeUInt32LE(maxBytes === SMALLEST_MAX_BYTES ? maxBytes : Math.min(blockLength(block), maxBytes), 0);
  block.copy(input, 4);
  return uncompressSync(input.subarray(0, 4 + block.length), before);
}

/** What the sequences of a block unpack to. Each has literals, and repeats bytes that came before. */
function blockLength(block: Buffer): number {
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

import fc from 'fast-check';
import { compressSync, decompressFrameSync } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { UnpackFailed, unpackRecords } from '../../../ingest/kafka/record-codecs.ts';
import { xxh32 } from '../../../ingest/kafka/xxh32.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { CODEC, SKIPPABLE } from './built-batch.ts';

interface BuiltFrame {
  readonly blocks: readonly Buffer[];
  /** Whether blocks are left as they are, from the first on; the last holds for the others. */
  readonly stored?: readonly boolean[];
  readonly linked?: boolean;
  readonly blockChecksums?: boolean;
  readonly contentChecksum?: boolean;
  /** The length that the header tells, or that of the blocks with `true`. */
  readonly contentSize?: boolean | bigint;
  /** 4 to 7: blocks of at most 64 KiB, 256 KiB, 1 MiB, 4 MiB. */
  readonly sizeCode?: number;
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** A block without the length that the library puts before it. `before` is what it may refer to. */
const packedBlock = (plain: Buffer, before: Buffer): Buffer => compressSync(plain, before).subarray(4);

/** A frame byte by byte, as https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md has it. */
function builtFrame({ blocks, stored = [false], linked = false, sizeCode = 4, ...options }: BuiltFrame): Buffer {
  const { blockChecksums = false, contentChecksum = false, contentSize = false } = options;
  const content = Buffer.concat(blocks);
  const flags = 0x40 + (linked ? 0 : 32) + (blockChecksums ? 16 : 0) + (contentSize === false ? 0 : 8) + (contentChecksum ? 4 : 0);
  const header = [Buffer.from([flags, sizeCode << 4])];
  if (contentSize !== false) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(contentSize === true ? BigInt(content.length) : contentSize);
    header.push(bytes);
  }
  const hashed = Buffer.concat(header);
  const pieces = [uint32(0x184d2204), hashed, Buffer.from([(xxh32(hashed) >>> 8) & 0xff])];
  let done = 0;
  for (const [index, plain] of blocks.entries()) {
    const isStored = stored[index] ?? stored.at(-1) === true;
    const before = linked ? content.subarray(Math.max(0, done - 65_536), done) : Buffer.alloc(0);
    const block = isStored ? plain : packedBlock(plain, before);
    pieces.push(uint32(block.length + (isStored ? 0x80000000 : 0)), block);
    if (blockChecksums) pieces.push(uint32(xxh32(block)));
    done += plain.length;
  }
  pieces.push(uint32(0));
  if (contentChecksum) pieces.push(uint32(xxh32(content)));
  return Buffer.concat(pieces);
}

/** What the library's own function for frames makes of them, each given to it alone; null where it refuses one. */
function byTheLibrary(packed: Buffer): Buffer | null {
  const frames: Buffer[] = [];
  try {
    for (let at = 0; at < packed.length; ) {
      const magic = packed.length - at < 4 ? 0 : packed.readUInt32LE(at);
      if (magic >>> 4 === 0x184d2a5) {
        at += 8 + packed.readUInt32LE(at + 4);
        if (at > packed.length) return null;
        continue;
      }
      if (magic !== 0x184d2204 && at > 0) break;
      const end = endOfFrame(packed, at);
      frames.push(decompressFrameSync(packed.subarray(at, end)));
      at = end;
    }
  } catch {
    return null;
  }
  return Buffer.concat(frames);
}

/** The library takes a frame without its end for whole; here it throws a RangeError. */
function endOfFrame(packed: Buffer, start: number): number {
  const flags = packed.readUInt8(start + 4);
  let end = start + 7 + ((flags & 8) === 0 ? 0 : 8) + ((flags & 1) === 0 ? 0 : 4);
  for (let size = packed.readUInt32LE(end); size !== 0; size = packed.readUInt32LE(end)) {
    end += 4 + (size % 0x80000000) + ((flags & 16) === 0 ? 0 : 4);
  }
  return end + 4 + ((flags & 4) === 0 ? 0 : 4);
}

function unpacked(packed: Buffer): Buffer | null {
  try {
    return unpackRecords(CODEC.lz4, packed);
  } catch (error) {
    if (!(error instanceof UnpackFailed)) throw error;
    return null;
  }
}

const text = (size: number, from = 0): Buffer =>
  Buffer.from(
    Array.from({ length: Math.ceil(size / 8) }, (_, index) => `${(index + from) % 1_009} `.padStart(8, 'log:')).join(''),
  ).subarray(0, size);
const zeros = (size: number): Buffer => Buffer.alloc(size);

const [ONE, SMALL, THREE] = [[text(60_000)], [text(100)], [text(65_536), text(65_536, 7), text(3_000, 3)]];

describe('a frame of lz4 becomes the bytes that the library makes of it', () => {
  it.each<[string, BuiltFrame]>([
    ['of one block', { blocks: ONE }],
    ['of few bytes', { blocks: SMALL }],
    ['of no block', { blocks: [] }],
    ['of no block, with every checksum and its length', { blocks: [], blockChecksums: true, contentChecksum: true, contentSize: true }],
    ['of one byte', { blocks: [Buffer.from('x')] }],
    ['of several blocks', { blocks: THREE }],
    ['with its length', { blocks: THREE, contentSize: true }],
    ['with a checksum of each block', { blocks: THREE, blockChecksums: true }],
    ['with a checksum of all', { blocks: THREE, contentChecksum: true }],
    ['with both checksums and its length', { blocks: THREE, blockChecksums: true, contentChecksum: true, contentSize: true }],
    ['of stored blocks', { blocks: THREE, stored: [true] }],
    ['of stored blocks with checksums', { blocks: THREE, stored: [true], blockChecksums: true, contentChecksum: true }],
    ['of packed and stored blocks', { blocks: THREE, stored: [false, true, false] }],
    ['of linked blocks', { blocks: THREE, linked: true }],
    ['of linked blocks behind a stored one', { blocks: THREE, linked: true, stored: [true, false] }],
    ['of linked blocks with checksums', { blocks: THREE, linked: true, blockChecksums: true, contentChecksum: true, contentSize: true }],
    ['of many small linked blocks', { blocks: Array.from({ length: 300 }, (_, index) => text(700, index)), linked: true }],
    ['of linked blocks of 64 KiB', { blocks: Array.from({ length: 9 }, () => text(65_536)), linked: true }],
    ['of blocks up to 256 KiB', { blocks: [text(262_144), text(50_000)], sizeCode: 5 }],
    ['of linked blocks up to 256 KiB', { blocks: [text(262_144), text(200_000), text(262_144)], sizeCode: 5, linked: true }],
    ['of blocks up to 1 MiB', { blocks: [text(1_048_576), text(100)], sizeCode: 6 }],
    ['of blocks up to 4 MiB', { blocks: [text(4_194_304), text(100)], sizeCode: 7, contentChecksum: true }],
    ['that repeats one byte', { blocks: [zeros(65_536)], contentSize: true }],
  ])('%s', (_name, frame) => {
    const packed = builtFrame(frame);
    expect(byTheLibrary(packed)?.equals(Buffer.concat(frame.blocks))).toBe(true);
    expect(unpacked(packed)?.equals(Buffer.concat(frame.blocks))).toBe(true);
  });

  it('in linked blocks that need the bytes of the block before', () => {
    const frame = builtFrame({ blocks: [text(65_536), text(65_536)], linked: true });
    const asIndependent = Buffer.from(frame);
    asIndependent[4] = 0x60;
    asIndependent[6] = (xxh32(asIndependent.subarray(4, 6)) >>> 8) & 0xff;
    expect(unpacked(frame)?.length).toBe(131_072);
    expect([unpacked(asIndependent), byTheLibrary(asIndependent)]).toEqual([null, null]);
  });

  it('and a frame behind another one refers to nothing in it', () => {
    const frame = builtFrame({ blocks: [text(1_000)], linked: true });
    // One literal, then four bytes from two bytes before.
    const reaching = Buffer.concat([frame.subarray(0, 7), uint32(5), Buffer.from([0x10, 0x41, 2, 0, 0]), uint32(0)]);
    expect(unpacked(Buffer.concat([frame, frame]))?.length).toBe(2_000);
    expect([unpacked(Buffer.concat([frame, reaching])), byTheLibrary(Buffer.concat([frame, reaching]))]).toEqual([null, null]);
  });

  it('also behind an empty block, where the library stops without a word', () => {
    const [header, rest] = [builtFrame({ blocks: SMALL }).subarray(0, 7), builtFrame({ blocks: SMALL }).subarray(7)];
    for (const empty of [uint32(0x80000000), Buffer.concat([uint32(1), Buffer.from([0])])]) {
      expect(String(unpacked(Buffer.concat([header, empty, rest])))).toBe(String(SMALL[0]));
    }
  });
});

describe('a frame of lz4 is refused where the library refuses it', () => {
  const frame = builtFrame({ blocks: THREE, blockChecksums: true, contentChecksum: true, contentSize: true });
  const plainFrame = builtFrame({ blocks: THREE });
  const withByte = (bytes: Buffer, at: number, byte: number): Buffer =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at + 1)]);
  const changed = (bytes: Buffer, at: number): Buffer => withByte(bytes, at, bytes.readUInt8(at) ^ 1);
  /** The same with a header that its checksum is of. */
  const withHeader = (flags: number, sizeCode: number, ...more: Buffer[]): Buffer => {
    const hashed = Buffer.concat([Buffer.from([flags, sizeCode]), ...more]);
    return Buffer.concat([uint32(0x184d2204), hashed, Buffer.from([(xxh32(hashed) >>> 8) & 0xff]), plainFrame.subarray(7)]);
  };
  const ofBlock = (block: Buffer): Buffer => Buffer.concat([plainFrame.subarray(0, 7), uint32(block.length), block, uint32(0)]);

  it.each<[string, Buffer]>([
    ['with another version', withHeader(0xa0, 0x40)],
    ['with a reserved flag', withHeader(0x62, 0x40)],
    ['with reserved bits of its largest block', withHeader(0x60, 0xc0)],
    ['with a lower reserved bit of its largest block', withHeader(0x60, 0x41)],
    ['with a largest block that no frame has', withHeader(0x60, 0x30)],
    ['with a dictionary', withHeader(0x61, 0x40, uint32(1))],
    ['with a wrong checksum of its header', withByte(plainFrame, 6, 0)],
    ['with a wrong checksum of a block', changed(frame, frame.length - 12)],
    ['with a wrong checksum of all', changed(frame, frame.length - 1)],
    ['with a damaged byte under its checksums', changed(frame, 40)],
    ['that tells one byte less than it has', builtFrame({ blocks: THREE, contentSize: 134_071n })],
    ['that tells one byte more than it has', builtFrame({ blocks: THREE, contentSize: 134_073n })],
    ['that tells more than there can be', builtFrame({ blocks: THREE, contentSize: 2n ** 64n - 1n })],
    ['with a stored block that is too long', builtFrame({ blocks: [text(65_537)], stored: [true] })],
    ['with a packed block that is too long', builtFrame({ blocks: [Buffer.concat([text(65_536), text(9)])] })],
    ['with a bomb in one block', builtFrame({ blocks: [zeros(100 << 20)] })],
    ['with a block of more packed bytes than a block may have', ofBlock(Buffer.concat([Buffer.from([0xf0]), Buffer.alloc(65_600, 0xff)]))],
    ['with a block that refers to what is before it', ofBlock(Buffer.from([0x10, 0x41, 9, 0, 0]))],
    ['with a block that refers to nothing', ofBlock(Buffer.from([0x10, 0x41, 0, 0, 0]))],
    ['with a block whose literals are cut off', ofBlock(Buffer.from([0x50, 0x41]))],
    ['with a block that ends in a length', ofBlock(Buffer.from([0xf0, 0xff]))],
    ['with a block length behind its end', withByte(plainFrame, 10, 0x7f)],
  ])('%s', (_name, packed) => {
    expect([unpacked(packed), byTheLibrary(packed)]).toEqual([null, null]);
  });

  it('cut off anywhere', () => {
    const short = builtFrame({
      blocks: [text(40), text(30)],
      stored: [false, true],
      blockChecksums: true,
      contentChecksum: true,
      contentSize: true,
    });
    for (let length = 1; length < short.length; length++) expect(unpacked(short.subarray(0, length))).toBeNull();
    expect(() => unpackRecords(CODEC.lz4, short.subarray(0, 40))).toThrow('behind byte 0: a block is cut off');
  });

  it('that unpacks to more than a batch may, alone or with the frames before it', () => {
    const block = zeros(4 << 20);
    const blocks = (count: number): Buffer => builtFrame({ blocks: Array.from({ length: count }, () => block), sizeCode: 7 });
    expect(unpackRecords(CODEC.lz4, blocks(16)).length).toBe(64 << 20);
    for (const bomb of [blocks(17), Buffer.concat([blocks(10), SKIPPABLE, blocks(7)])]) {
      expect(() => unpackRecords(CODEC.lz4, bomb)).toThrow('unpacks to more than 64 MiB of lz4');
    }
  });
});

it('any frames, whole or damaged, become what the library makes of them, or are refused as by it', () => {
  const piece = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(fc.integer({ min: 1, max: 65_536 }), fc.nat(2_000)).map(([size, from]) => text(size, from)),
  );
  const frame = fc.record({
    blocks: fc.array(piece, { maxLength: 5 }),
    stored: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    linked: fc.boolean(),
    blockChecksums: fc.boolean(),
    contentChecksum: fc.boolean(),
    contentSize: fc.boolean(),
    sizeCode: fc.integer({ min: 4, max: 7 }),
  });
  const part = fc.oneof({ weight: 5, arbitrary: frame.map(builtFrame) }, fc.constant(SKIPPABLE));
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
  assertProperty(
    fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), damage, fc.option(fc.nat(), { freq: 4 }), (parts, changes, cut) => {
      const packed = Buffer.concat(parts);
      // Most of the changes are of headers, and of the beginning of a block.
      for (const [at, byte] of changes) packed[at % (at % 3 === 0 ? packed.length : Math.min(packed.length, 40))] = byte;
      const given = cut === null ? packed : packed.subarray(0, cut % (packed.length + 1));
      expect(unpacked(given)?.toString('latin1')).toBe(byTheLibrary(given)?.toString('latin1'));
    }),
    { numRuns: 300 },
  );
});

describe('the xxHash of 32 bits', () => {
  it.each([
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ])('of %j', (words, hash) => {
    expect(xxh32(Buffer.from(words))).toBe(hash);
  });
});

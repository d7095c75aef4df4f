import type { ChunkReader } from './compressed-frames.ts';

/** The longest header of a frame of zstd that is not skipped, in bytes. */
export const ZSTD_HEADER_BYTES = 18;

/** A frame of zstd with a larger window is not decompressed: encoders must not need more of those that they do not know (RFC 9659). */
export const MAX_ZSTD_WINDOW_BYTES = 8 * 1024 * 1024;

const LEAST_WINDOW_LOG = 10;
const SKIPPED_HEADER_BYTES = 8;

/** Whether bytes begin like a frame of zstd (RFC 8878). One that decoders skip, as pzstd writes first, has sixteen forms. */
export function beginsZstdFrame(bytes: Uint8Array): boolean {
  return beginsSkippedFrame(bytes) || (bytes[0] === 0x28 && hasRest(bytes, [0xb5, 0x2f, 0xfd]));
}

function beginsSkippedFrame(bytes: Uint8Array): boolean {
  return ((bytes[0] ?? 0) & 0xf0) === 0x50 && hasRest(bytes, [0x2a, 0x4d, 0x18]);
}

function hasRest(bytes: Uint8Array, rest: readonly number[]): boolean {
  return rest.every((byte, index) => bytes[index + 1] === byte);
}

/** What the header of a frame says, in bytes. */
export interface ZstdFrameHeader {
  /** How far back the frame refers to: so much of what is decompressed is kept. */
  readonly windowBytes: number;
  /** The length of what is decompressed; null where the header does not have it. */
  readonly contentBytes: number | null;
}

/** Reads the header of a frame (RFC 8878, 3.1.1.1). Null for a frame that is skipped, and for bytes that are no whole header. */
export function zstdFrameHeader(bytes: Buffer): ZstdFrameHeader | null {
  if (!beginsZstdFrame(bytes) || beginsSkippedFrame(bytes) || bytes.length < 6) return null;
  const descriptor = bytes[4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 0x03]!;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  if (bytes.length < at + sizeBytes) return null;
  const contentBytes = contentLength(bytes, at, sizeBytes);
  if (isSingleSegment) return { windowBytes: contentBytes ?? 0, contentBytes };
  const [exponent, mantissa] = [bytes[5]! >> 3, bytes[5]! & 0x07];
  const base = 2 ** (LEAST_WINDOW_LOG + exponent);
  return { windowBytes: base + (base / 8) * mantissa, contentBytes };
}

function contentLength(bytes: Buffer, at: number, sizeBytes: number): number | null {
  switch (sizeBytes) {
    case 0:
      return null;
    case 2:
      return bytes.readUInt16LE(at) + 256;
    case 8:
      return Number(bytes.readBigUInt64LE(at));
    default:
      return bytes.readUIntLE(at, sizeBytes);
  }
}

/** So much of frames that are skipped is read to find the first other one. */
const MOST_SKIPPED_BYTES = 64 * 1024;

/** The header of the first frame that is not skipped, of bytes that are still to be read. Null where it is not found. */
export async function firstZstdHeader(input: ChunkReader): Promise<ZstdFrameHeader | null> {
  for (let at = 0; at <= MOST_SKIPPED_BYTES; ) {
    const bytes = (await input.peek(at + ZSTD_HEADER_BYTES)).subarray(at);
    if (!beginsSkippedFrame(bytes) || bytes.length < SKIPPED_HEADER_BYTES) return zstdFrameHeader(bytes);
    at += SKIPPED_HEADER_BYTES + bytes.readUInt32LE(4);
  }
  return null;
}

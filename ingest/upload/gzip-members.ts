import { crc32, createInflateRaw } from 'node:zlib';
import { type ChunkReader, frame } from './compressed-frames.ts';
import { UnreadableInput } from './intake-report.ts';

const MAGIC = [0x1f, 0x8b];
const DEFLATE = 8;
/** Bits of the header's flags. */
const HAS_CHECKSUM = 0x02;
const HAS_EXTRA = 0x04;
const HAS_NAME = 0x08;
const HAS_COMMENT = 0x10;
const RESERVED = 0xe0;

/**
 * Decompresses gzip (RFC 1952) member by member. NULs behind a member are padding. Node's decoder takes the first of them for the end of
 * the input, and drops a whole member where other bytes follow it in the same chunk. Throws `UnreadableInput` with the position of such
 * bytes, or of a member that is damaged or cut off, in the words of zlib.
 */
export async function* gunzipped(input: ChunkReader): AsyncGenerator<Uint8Array> {
  do {
    const { position } = input;
    try {
      yield* gunzippedMember(input);
    } catch (error) {
      if (error instanceof UnreadableInput) throw error;
      throw damaged('gzip', (error as Error).message, `in the member that begins at byte ${position} of the compressed data`);
    }
    await input.skipNuls();
  } while (await input.hasMore());
}

async function* gunzippedMember(input: ChunkReader): AsyncGenerator<Uint8Array> {
  await readHeader(input);
  let [checksum, length] = [0, 0];
  for await (const piece of frame(input, createInflateRaw())) {
    checksum = crc32(piece, checksum);
    length = (length + piece.length) % 2 ** 32;
    yield piece;
  }
  const trailer = await take(input, 8);
  requireThat(trailer.readUInt32LE(0) === checksum, 'incorrect data check');
  requireThat(trailer.readUInt32LE(4) === length, 'incorrect length check');
}

async function readHeader(input: ChunkReader): Promise<void> {
  const { position } = input;
  const magic = await input.takeUpTo(MAGIC.length);
  if (!magic.every((byte, index) => byte === MAGIC[index])) {
    throw wrongStart('gzip', 'incorrect header check', position, 'behind a member, where another one or NULs may follow');
  }
  requireThat(magic.length === MAGIC.length, 'unexpected end of file');
  const fixed = await take(input, 8);
  requireThat(fixed[0] === DEFLATE, 'unknown compression method');
  const flags = fixed[1]!;
  requireThat((flags & RESERVED) === 0, 'unknown header flags set');
  let checksum = crc32(fixed, crc32(magic));
  if ((flags & HAS_EXTRA) !== 0) {
    const size = await take(input, 2);
    checksum = crc32(await take(input, size.readUInt16LE(0)), crc32(size, checksum));
  }
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) !== 0) checksum = await checksumOfText(input, checksum);
  }
  if ((flags & HAS_CHECKSUM) !== 0) {
    requireThat((await take(input, 2)).readUInt16LE(0) === (checksum & 0xffff), 'header crc mismatch');
  }
}

/** Reads a text that ends with a NUL, of any length, and goes on with the checksum of the header. */
async function checksumOfText(input: ChunkReader, checksum: number): Promise<number> {
  let sum = checksum;
  for (;;) {
    const chunk = await input.next();
    if (chunk === undefined) throw new Error('unexpected end of file');
    const nul = chunk.indexOf(0);
    if (nul < 0) {
      sum = crc32(chunk, sum);
      continue;
    }
    if (nul + 1 < chunk.length) input.putBack(chunk.subarray(nul + 1));
    return crc32(chunk.subarray(0, nul + 1), sum);
  }
}

async function take(input: ChunkReader, length: number): Promise<Buffer> {
  const bytes = await input.takeUpTo(length);
  requireThat(bytes.length === length, 'unexpected end of file');
  return bytes;
}

function requireThat(condition: boolean, fault: string): void {
  if (!condition) {
    throw new Error(fault);
  }
}

/** The error for bytes where a member or frame should begin; `position` counts the compressed bytes before them. */
export function wrongStart(encoding: string, fault: string, position: number, allowed: string): UnreadableInput {
  return damaged(encoding, fault, `at byte ${position} of the compressed data, ${allowed}`);
}

function damaged(encoding: string, fault: string, where: string): UnreadableInput {
  return new UnreadableInput('corrupt_input', `the ${encoding} data is damaged or cut off (${fault}) ${where}`);
}

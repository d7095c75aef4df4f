import { createZstdDecompress } from 'node:zlib';
import { ChunkReader, frame } from './compressed-frames.ts';
import { gunzipped, wrongStart } from './gzip-members.ts';
import { UnreadableInput } from './intake-report.ts';

export type Encoding = 'identity' | 'gzip' | 'zstd';

const DECODERS = { gzip: gunzipped, zstd: zstdDecompressed };

/**
 * Decompresses a stream, including gzip with several members, padded or not, and zstd with several frames. The output has no limit here:
 * `takeInEvents` ends what is too long. Throws `UnreadableInput` (`corrupt_input`) where the data is damaged or cut off, and errors of the
 * source as they are.
 */
export async function* decompressed(chunks: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncIterable<Uint8Array> {
  let sourceFailure: { readonly error: unknown } | undefined;
  async function* watched(): AsyncIterable<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  }
  try {
    yield* encoding === 'identity' ? watched() : decoded(watched(), DECODERS[encoding]);
  } catch (error) {
    if (sourceFailure !== undefined) {
      throw sourceFailure.error;
    }
    if (error instanceof UnreadableInput) {
      throw error;
    }
    throw new UnreadableInput('corrupt_input', `the ${encoding} data is damaged or cut off (${(error as Error).message})`, {
      cause: error,
    });
  }
}

async function* decoded(chunks: AsyncIterable<Uint8Array>, decoder: typeof zstdDecompressed): AsyncIterable<Uint8Array> {
  const input = new ChunkReader(chunks);
  try {
    yield* decoder(input);
  } finally {
    await input.close();
  }
}

/**
 * Decompresses zstd with any number of frames, each with its own decoder. Node's decoder ends silently after the first frame if more data
 * follows in the same chunk, which would lose the rest of a file made by appending.
 */
async function* zstdDecompressed(input: ChunkReader): AsyncIterable<Uint8Array> {
  do {
    const { position } = input;
    const start = await input.takeUpTo(4);
    input.putBack(start);
    if (position > 0 && !beginsZstdFrame(start)) {
      throw wrongStart('zstd', 'Unknown frame descriptor', position, 'behind a frame, where another one may follow');
    }
    yield* frame(input, createZstdDecompress());
  } while (await input.hasMore());
}

/** Whether bytes begin like a frame of zstd (RFC 8878). One that decoders skip, as pzstd writes first, has sixteen forms. */
export function beginsZstdFrame(bytes: Uint8Array): boolean {
  const [first = 0, ...others] = bytes.subarray(0, 4);
  const isSkipped = (first & 0xf0) === 0x50 && String(others) === String([0x2a, 0x4d, 0x18]);
  return isSkipped || (first === 0x28 && String(others) === String([0xb5, 0x2f, 0xfd]));
}

import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UnreadableInput } from './unreadable-input.ts';
import { zstdDecompressed } from './zstd-frames.ts';

export type Encoding = 'identity' | 'gzip' | 'zstd';

/**
 * The bytes that were compressed, chunk by chunk; gzip files of several members and zstd files of several frames are read to their end.
 * Throws `UnreadableInput` (`corrupt_input`) where they are damaged or cut off; an error of the source is handed on.
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
    yield* decoded(watched(), encoding);
  } catch (error) {
    if (sourceFailure !== undefined) {
      throw sourceFailure.error;
    }
    throw new UnreadableInput('corrupt_input', `the ${encoding} data is damaged or cut off (${(error as Error).message})`, {
      cause: error,
    });
  }
}

function decoded(chunks: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncIterable<Uint8Array> {
  switch (encoding) {
    case 'identity':
      return chunks;
    case 'gzip':
      return gunzipped(chunks);
    case 'zstd':
      return zstdDecompressed(chunks);
  }
}

async function* gunzipped(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(chunks, { objectMode: false });
  const decoder = createGunzip();
  source.once('error', (error) => decoder.destroy(error));
  source.pipe(decoder);
  try {
    yield* decoder as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress, type ZstdDecompress } from 'node:zlib';
import { UnreadableInput } from './intake-report.ts';

export type Encoding = 'identity' | 'gzip' | 'zstd';

/**
 * Decompresses a stream, including gzip with several members and zstd with several frames. The output has no limit here: `takeInEvents`
 * ends what is too long. Throws `UnreadableInput` (`corrupt_input`) where the data is damaged or cut off, and errors of the source as they
 * are.
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

/**
 * Decompresses zstd with any number of frames, each with its own decoder. Node's decoder ends silently after the first frame if more data
 * follows in the same chunk, which would lose the rest of a file made by appending.
 */
async function* zstdDecompressed(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const input = new ChunkReader(chunks);
  try {
    do {
      yield* frame(input);
    } while (await input.hasMore());
  } finally {
    await input.close();
  }
}

async function* frame(input: ChunkReader): AsyncIterable<Uint8Array> {
  const decoder = createZstdDecompress();
  const feeding = feed(decoder, input).catch((error: Error) => {
    decoder.destroy(error);
  });
  try {
    yield* decoder as AsyncIterable<Buffer>;
    await feeding;
  } finally {
    decoder.destroy();
  }
}

/** Writes input to the decoder up to the end of its frame, and puts the rest back. */
async function feed(decoder: ZstdDecompress, input: ChunkReader): Promise<void> {
  let given = 0;
  for (let chunk = await input.next(); chunk !== undefined; chunk = await input.next()) {
    given += chunk.length;
    await written(decoder, chunk);
    const unreadBytes = given - decoder.bytesWritten;
    if (unreadBytes > 0) {
      input.putBack(chunk.subarray(chunk.length - unreadBytes));
      return;
    }
  }
  decoder.end();
}

function written(decoder: ZstdDecompress, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/** An iterator of chunks, into which the last chunk can be put back. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #putBack: Uint8Array | undefined;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async next(): Promise<Uint8Array | undefined> {
    const chunk = this.#putBack;
    if (chunk !== undefined) {
      this.#putBack = undefined;
      return chunk;
    }
    for (;;) {
      const { value, done } = await this.#chunks.next();
      if (done === true || value.length > 0) {
        return done === true ? undefined : value;
      }
    }
  }

  putBack(chunk: Uint8Array): void {
    this.#putBack = chunk;
  }

  async hasMore(): Promise<boolean> {
    this.#putBack ??= await this.next();
    return this.#putBack !== undefined;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

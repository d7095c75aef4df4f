import { createZstdDecompress, type ZstdDecompress } from 'node:zlib';

/**
 * Decompresses zstd data of any number of frames. Node's decoder ends without a word behind the first frame if more follows in the same
 * chunk, so that a file made by appending would lose its rest: here each frame may have a decoder of its own.
 */
export async function* zstdDecompressed(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
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

/** Gives the decoder what it takes; what lies behind the end of its frame goes back into the input. */
async function feed(decoder: ZstdDecompress, input: ChunkReader): Promise<void> {
  let given = 0;
  for (let chunk = await input.next(); chunk !== undefined; chunk = await input.next()) {
    given += chunk.length;
    await written(decoder, chunk);
    const leftOver = given - decoder.bytesWritten;
    if (leftOver > 0) {
      input.putBack(chunk.subarray(chunk.length - leftOver));
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

/** Chunks of which the last one can be put back. */
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

import type { InflateRaw, ZstdDecompress } from 'node:zlib';
import { behindNuls } from '../../query/json-bytes.ts';

/** Reads chunks of compressed data, of which bytes can be put back. */
export class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #putBack: Uint8Array = new Uint8Array(0);
  #position = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Why the chunks broke off, where they did. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** The number of bytes that were read. */
  get position(): number {
    return this.#position;
  }

  /** The next bytes, at least one; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    let chunk: Uint8Array | undefined = this.#putBack;
    this.#putBack = new Uint8Array(0);
    while (chunk !== undefined && chunk.length === 0) {
      chunk = await this.#nextChunk();
    }
    this.#position += chunk?.length ?? 0;
    return chunk;
  }

  /** To be called with the last of the bytes that were read. */
  putBack(bytes: Uint8Array): void {
    this.#position -= bytes.length;
    this.#putBack = this.#putBack.length === 0 ? bytes : Buffer.concat([bytes, this.#putBack]);
  }

  /** So many bytes, or fewer at the end. */
  async takeUpTo(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    let missing = length;
    while (missing > 0) {
      const chunk = await this.next();
      if (chunk === undefined) {
        break;
      }
      pieces.push(chunk.subarray(0, missing));
      if (chunk.length > missing) {
        this.putBack(chunk.subarray(missing));
      }
      missing -= pieces.at(-1)!.length;
    }
    return Buffer.concat(pieces);
  }

  /** The same, which are still to be read. */
  async peek(length: number): Promise<Buffer> {
    const bytes = await this.takeUpTo(length);
    this.putBack(bytes);
    return bytes;
  }

  async skipNuls(): Promise<void> {
    for (let chunk = await this.next(); chunk !== undefined; chunk = await this.next()) {
      const rest = chunk.subarray(behindNuls(chunk));
      if (rest.length > 0) {
        this.putBack(rest);
        return;
      }
    }
  }

  async hasMore(): Promise<boolean> {
    const chunk = await this.next();
    if (chunk !== undefined) {
      this.putBack(chunk);
    }
    return chunk !== undefined;
  }

  /** All bytes that were not read. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.next(); chunk !== undefined; chunk = await this.#nextChunk()) yield chunk;
  }

  async #nextChunk(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#chunks.next();
      return done === true ? undefined : value;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

/** Decompresses one frame with a decoder of its own, up to the frame's end. Throws the decoder's error. */
export async function* frame(input: ChunkReader, decoder: InflateRaw | ZstdDecompress): AsyncIterable<Uint8Array> {
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
async function feed(decoder: InflateRaw | ZstdDecompress, input: ChunkReader): Promise<void> {
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

function written(decoder: InflateRaw | ZstdDecompress, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

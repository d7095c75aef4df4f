import { constants, createZstdDecompress } from 'node:zlib';
import { type InputMemory, UNCOUNTED } from '../event/partial-event.ts';
import { beginsGzip } from '../mapping/decode-steps.ts';
import { ChunkReader, frame } from './compressed-frames.ts';
import { gunzipped, wrongStart } from './gzip-members.ts';
import { UnreadableInput } from './intake-report.ts';
import { beginsZstdFrame, MAX_ZSTD_WINDOW_BYTES, ZSTD_HEADER_BYTES, zstdFrameHeader } from './zstd-frame.ts';

export type Encoding = 'identity' | 'gzip' | 'zstd';

/** What a decoder takes, in bytes. One of zstd takes its window, too, and two blocks, none of which is longer than the window. */
export const DECODER_BYTES = 64 * 1024;
const ZSTD_BLOCK_BYTES = 128 * 1024;

const DECODERS = { identity: (input: ChunkReader) => input, gzip: gunzipped, zstd: zstdDecompressed };

/** Detects how bytes are compressed from the first four of them, with which no JSON begins. */
export function detectEncoding(first: Uint8Array): Encoding {
  if (beginsZstdFrame(first)) return 'zstd';
  return beginsGzip(first) ? 'gzip' : 'identity';
}

export interface DecompressOptions {
  /** Counts what decoders hold. An error that it throws is thrown as it is. Absent: nothing is counted. */
  readonly memory?: InputMemory;
  /** The largest window of a frame of zstd. Default: MAX_ZSTD_WINDOW_BYTES. */
  readonly maxWindowBytes?: number;
}

/**
 * Decompresses a stream, including gzip with several members, padded or not, and zstd with several frames; `detected` goes by its first
 * bytes. The output has no limit here: `takeInEvents` ends what is too long. Throws `UnreadableInput` (`corrupt_input`) where the data is
 * damaged or cut off, or a frame needs too large a window, and errors of the source as they are.
 */
export async function* decompressed(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding | 'detected',
  { memory = UNCOUNTED, maxWindowBytes = MAX_ZSTD_WINDOW_BYTES }: DecompressOptions = {},
): AsyncIterable<Uint8Array> {
  let refusal: { readonly error: unknown } | undefined;
  const hold = (bytes: number): void => {
    try {
      memory.hold('decoder', bytes);
    } catch (error) {
      refusal = { error };
      throw error;
    }
  };
  const input = new ChunkReader(chunks);
  let found = encoding;
  try {
    if (found === 'detected') found = detectEncoding(await input.peek(4));
    if (found !== 'identity') hold(DECODER_BYTES);
    yield* DECODERS[found](input, { hold, maxWindowBytes });
  } catch (error) {
    const failure = input.failure ?? refusal;
    if (failure !== undefined) {
      throw failure.error;
    }
    if (error instanceof UnreadableInput) {
      throw error;
    }
    throw new UnreadableInput('corrupt_input', `the ${found} data is damaged or cut off (${(error as Error).message})`, { cause: error });
  } finally {
    await input.close();
    memory.hold('decoder', 0);
  }
}

interface ZstdOptions {
  readonly hold: (bytes: number) => void;
  readonly maxWindowBytes: number;
}

/**
 * Decompresses zstd with any number of frames, each with its own decoder. Node's decoder ends silently after the first frame if more data
 * follows in the same chunk, which would lose the rest of a file made by appending.
 */
async function* zstdDecompressed(input: ChunkReader, { hold, maxWindowBytes }: ZstdOptions): AsyncIterable<Uint8Array> {
  const params = { [constants.ZSTD_d_windowLogMax]: Math.log2(maxWindowBytes) };
  do {
    const { position } = input;
    const start = await input.peek(ZSTD_HEADER_BYTES);
    if (position > 0 && !beginsZstdFrame(start)) {
      throw wrongStart('zstd', 'Unknown frame descriptor', position, 'behind a frame, where another one may follow');
    }
    const { windowBytes = 0, contentBytes = null } = zstdFrameHeader(start) ?? {};
    if (windowBytes > maxWindowBytes) {
      const place = `the zstd frame that begins at byte ${position} of the compressed data`;
      throw new UnreadableInput(
        'corrupt_input',
        `${place} needs a window of ${windowBytes} bytes; allowed: at most ${maxWindowBytes} bytes`,
      );
    }
    const keptBytes = Math.min(windowBytes, contentBytes ?? windowBytes);
    hold(DECODER_BYTES + keptBytes + 2 * Math.min(keptBytes, ZSTD_BLOCK_BYTES));
    yield* frame(input, createZstdDecompress({ params }));
  } while (await input.hasMore());
}

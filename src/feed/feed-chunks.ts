import type { FeedLine } from '../../store/event-store.ts';
import { readEvent } from '../../store/feed-event.ts';
import type { FeedFormat } from '../formats/feed-format.ts';

/** So much is handed over at once. */
const CHUNK_BYTES = 256 * 1024;
const BYTES_PER_UNIT = 3;
const LINE_FEED = 0x0a;

/** The events in pieces of some hundred kilobytes; one may be larger. */
export function* pieces(lines: readonly FeedLine[]): Iterable<readonly FeedLine[]> {
  for (let from = 0; from < lines.length; ) {
    let [to, size] = [from, 0];
    while (to < lines.length && size < CHUNK_BYTES) {
      const { start, end } = lines[to] as FeedLine;
      size += end - start;
      to += 1;
    }
    yield lines.slice(from, to);
    from = to;
  }
}

/** The events as they are, a line each, as bytes: a socket that is given texts makes them bytes one by one, at twice the cost. */
export function copiedChunk(lines: readonly FeedLine[]): Buffer {
  const chunk = Buffer.allocUnsafeSlow(lines.reduce((sum, { start, end }) => sum + end - start + 1, 0));
  let at = 0;
  for (const { bytes, start, end } of lines) {
    at += bytes.copy(chunk, at, start, end);
    chunk[at] = LINE_FEED;
    at += 1;
  }
  return chunk;
}

/**
 * The events in a format, a line each. Each is made bytes while it is still near: of a quarter of a megabyte of text together that took
 * twice as long.
 */
export function* writtenChunks(lines: readonly FeedLine[], { writeEvent }: FeedFormat): Iterable<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let at = 0;
  for (const line of lines) {
    const text = writeEvent(readEvent(line));
    const most = text.length * BYTES_PER_UNIT + 1;
    if (at + most > chunk.length) {
      if (at > 0) yield chunk.subarray(0, at);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, most));
      at = 0;
    }
    at += chunk.write(text, at);
    chunk[at] = LINE_FEED;
    at += 1;
  }
  if (at > 0) yield chunk.subarray(0, at);
}

import type { FeedLine } from '../../store/event-store.ts';
import { readEvent } from '../../store/feed-event.ts';
import type { FeedFormat } from '../formats/feed-format.ts';

/** So much is handed over at once. */
const CHUNK_BYTES = 256 * 1024;
const BYTES_PER_UNIT = 3;
const LINE_FEED = 0x0a;

/** The events, a line each, as bytes: a socket that is given texts makes them bytes one by one, at twice the cost. */
export function feedChunks(lines: readonly FeedLine[], format: FeedFormat): Iterable<Buffer> {
  return format.name === 'native' ? copiedChunks(lines) : writtenChunks(lines, format);
}

function* copiedChunks(lines: readonly FeedLine[]): Iterable<Buffer> {
  for (let from = 0; from < lines.length; ) {
    let [to, size] = [from, 0];
    while (to < lines.length && size < CHUNK_BYTES) {
      const { start, end } = lines[to] as FeedLine;
      size += end - start + 1;
      to += 1;
    }
    const chunk = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for (const { bytes, start, end } of lines.slice(from, to)) {
      at += bytes.copy(chunk, at, start, end);
      chunk[at] = LINE_FEED;
      at += 1;
    }
    yield chunk;
    from = to;
  }
}

/** Each event is made bytes while it is still near: of a quarter of a megabyte of text together that took twice as long. */
function* writtenChunks(lines: readonly FeedLine[], { writeEvent }: FeedFormat): Iterable<Buffer> {
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

import type { FeedPage } from '../../store/event-store.ts';
import type { FeedFormat } from '../formats/feed-format.ts';
import { feedChunks } from './feed-chunks.ts';
import { cursorText, type FeedPosition } from './feed-cursor.ts';
import { type FeedReading, readPage } from './feed-reading.ts';

interface FeedLinesOptions {
  readonly reading: FeedReading;
  readonly position: FeedPosition;
  readonly limit: number;
  readonly format: FeedFormat;
  /** What was read already. */
  readonly firstPage: FeedPage;
  /** Called with the number of events that were handed over. */
  readonly onEvents: (count: number) => void;
}

/**
 * The body of an answer: up to `limit` events, a line each, and the line with the cursor. A page is read from the store while the one before it goes
 * out. When this throws the answer has no last line, and nobody takes it for whole.
 */
export async function* feedLines({ reading, position, limit, format, firstPage, onEvents }: FeedLinesOptions): AsyncGenerator<Buffer> {
  const { afterRuns } = position;
  let page: FeedPage | null = firstPage;
  let { lastSequence: sequence, more } = firstPage;
  let count = 0;
  while (page !== null) {
    const { lines, lastSequence }: FeedPage = page;
    const left = limit - count - lines.length;
    const next: Promise<FeedPage | null> =
      page.more && left > 0 ? readPage({ sequence: lastSequence, afterRuns }, left, reading) : Promise.resolve(null);
    // It is looked at when this page is out; should that be cut short, nobody asks.
    next.catch(() => undefined);
    yield* feedChunks(lines, format);
    onEvents(lines.length);
    count += lines.length;
    ({ lastSequence: sequence, more } = page);
    page = await next;
  }
  yield Buffer.from(`${JSON.stringify({ cursor: cursorText({ sequence, afterRuns }, reading.store), more, count })}\n`);
}

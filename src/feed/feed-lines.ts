import type { FeedLine, FeedPage } from '../../store/event-store.ts';
import type { FeedFormatName } from '../formats/feed-format.ts';
import { RequestProblem } from '../problem.ts';
import { cursorText, type FeedPosition } from './feed-cursor.ts';
import { type FeedReading, readPage } from './feed-reading.ts';
import type { FormatThreads } from './format-threads.ts';

interface FeedLinesOptions {
  readonly reading: FeedReading;
  readonly position: FeedPosition;
  readonly limit: number;
  readonly format: FeedFormatName;
  readonly threads: Pick<FormatThreads, 'write'>;
  /** What was read already. */
  readonly firstPage: FeedPage;
  /** Called with the number of events that were handed over. */
  readonly onEvents: (count: number) => void;
  /** Called where the answer ends before its limit, because its next page cannot be had at the moment. */
  readonly onShortened: (problem: RequestProblem) => void;
}

/**
 * The body of an answer: up to `limit` events, a line each, and the line with the cursor. It ends behind the last page that could be read where the next one would have been answered
 * with a problem; its last line says that there is more. When this throws the answer has no last line, and nobody takes it for whole.
 */
export async function* feedLines(options: FeedLinesOptions): AsyncGenerator<Buffer> {
  const { reading, position, format, threads, firstPage } = options;
  const progress = { sequence: position.sequence, more: firstPage.more, count: 0 };
  yield* threads.write(pages(options, progress), format);
  const { sequence, more, count } = progress;
  yield Buffer.from(`${JSON.stringify({ cursor: cursorText({ ...position, sequence }, reading.store), more, count })}\n`);
}

/** How far the pages have come. */
interface Progress {
  sequence: bigint;
  more: boolean;
  count: number;
}

/** A page is read from the store while the one before it goes out. */
async function* pages(
  { reading, position, limit, firstPage, onEvents, onShortened }: FeedLinesOptions,
  progress: Progress,
): AsyncGenerator<readonly FeedLine[]> {
  const { afterRuns } = position;
  for (let page: FeedPage | null = firstPage; page !== null; ) {
    const { lines, lastSequence, more }: FeedPage = page;
    progress.count += lines.length;
    const left = limit - progress.count;
    const next: Promise<FeedPage | null> =
      more && left > 0 ? readPage({ sequence: lastSequence, afterRuns }, left, reading) : Promise.resolve(null);
    // It is looked at when this page is out; should that be cut short, nobody asks.
    next.catch(() => undefined);
    yield lines;
    onEvents(lines.length);
    progress.sequence = lastSequence;
    progress.more = more;
    page = await next.catch((error: unknown) => {
      if (!(error instanceof RequestProblem)) throw error;
      onShortened(error);
      return null;
    });
  }
}

import type { FeedFormatName } from '../formats/feed-format.ts';
import { RequestProblem } from '../http/problem.ts';
import { cursorText, type FeedPosition } from './feed-cursor.ts';
import { type FeedReading, type HeldPage, readPage } from './feed-reading.ts';
import type { FormatThreads, WrittenPiece } from './format-threads.ts';

interface FeedLinesOptions {
  readonly reading: FeedReading;
  readonly position: FeedPosition;
  readonly limit: number;
  readonly format: FeedFormatName;
  readonly threads: Pick<FormatThreads, 'write'>;
  /** What was read already. */
  readonly firstPage: HeldPage;
  /** Called with the number of events that were handed over. */
  readonly onEvents: (count: number) => void;
  /** Called where the answer ends before its limit, because its next page cannot be had at the moment. */
  readonly onShortened: (problem: RequestProblem) => void;
}

/**
 * The body of an answer: up to `limit` events, a line each, and the line with the cursor. It ends behind the last page that could be read
 * where the next one would have been answered with a problem; its last line says that there is more. When this throws the answer has no
 * last line, and nobody takes it for whole.
 *
 * A page is read from the store while the one before it goes out. While the reader takes nothing, pages may be taken away (see
 * `page-memory.ts`): what it has not got is read again.
 */
export async function* feedLines(options: FeedLinesOptions): AsyncGenerator<Buffer> {
  const { reading, position, limit, format, threads, firstPage, onEvents } = options;
  let { sequence } = position;
  let more = firstPage.more;
  let count = 0;
  let held: HeldPage | null = firstPage;
  let next: Promise<HeldPage | null> | undefined;
  try {
    while (held !== null) {
      const { page, lastSequence, events, more: hasMore }: HeldPage = held;
      let written = 0;
      for await (const piece of piecesOf(held, format, threads)) {
        yield piece.chunk;
        written += piece.events;
        count += piece.events;
        sequence = piece.lastSequence;
        onEvents(piece.events);
        const left = limit - count - (events - written);
        if (hasMore && left > 0) next ??= begin(options, lastSequence, left);
        // It is looked at when this page is out; should that be cut short, nobody asks.
        next?.catch(() => undefined);
      }
      page.release();
      const isWhole: boolean = written === events;
      more = hasMore || !isWhole;
      if (isWhole) sequence = lastSequence;
      else await forget(next);
      if (!isWhole) next = undefined;
      if (more && count < limit) next ??= begin(options, sequence, limit - count);
      held = (await next) ?? null;
      next = undefined;
    }
  } finally {
    held?.page.release();
    void forget(next);
  }
  yield Buffer.from(`${JSON.stringify({ cursor: cursorText({ ...position, sequence }, reading.store), more, count })}\n`);
}

/** The pieces of a page, up to where it was taken away. */
async function* piecesOf(held: HeldPage, format: FeedFormatName, threads: FeedLinesOptions['threads']): AsyncGenerator<WrittenPiece, void> {
  for (;;) {
    const piece = await nextPiece(held, format, threads);
    if (piece === undefined) return;
    yield piece;
    held.page.touch();
  }
}

/**
 * The next piece of a page; undefined where there is none, or the page was taken away. It keeps the page out of the frames of those who
 * wait.
 */
async function nextPiece(
  { page }: HeldPage,
  format: FeedFormatName,
  threads: FeedLinesOptions['threads'],
): Promise<WrittenPiece | undefined> {
  const { value } = page;
  if (value === undefined) return undefined;
  value.pieces ??= threads.write(value.lines, format);
  const { value: piece, done } = await value.pieces.next();
  return done === true ? undefined : piece;
}

/** Begins to read the next page; null where the answer ends before it. */
async function begin(
  { reading, position: { afterRuns }, onShortened }: FeedLinesOptions,
  sequence: bigint,
  left: number,
): Promise<HeldPage | null> {
  try {
    return await readPage({ sequence, afterRuns }, left, reading);
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    onShortened(error);
    return null;
  }
}

/** Gives the memory of a page back that nobody wants any more. */
async function forget(page: Promise<HeldPage | null> | undefined): Promise<void> {
  // Whatever went wrong with it, nobody asks.
  const held = await page?.catch(() => null);
  held?.page.release();
}

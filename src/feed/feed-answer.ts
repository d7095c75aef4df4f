import { mostLookedAt } from '../../query/plan/wanted-events.ts';
import type { FeedPosition } from '../../store/event-store.ts';
import type { AnswerPart } from '../http/answer-writes.ts';
import { RequestProblem } from '../http/problem.ts';
import { type FeedReading, type HeldPage, readPage } from './feed-reading.ts';
import type { LineForm } from './format-lines.ts';
import type { FormatThreads, WrittenPiece } from './format-threads.ts';
import { addLongLines, NO_LONG_LINES } from './line-limit.ts';

interface FeedAnswerOptions extends LineForm {
  readonly reading: FeedReading;
  readonly position: FeedPosition;
  readonly limit: number;
  readonly threads: Pick<FormatThreads, 'write'>;
  /** The page that is read already. */
  readonly firstPage: HeldPage;
  /** Called with each piece that is sent. */
  readonly onPiece: (piece: WrittenPiece) => void;
  /** Called where the answer ends before its limit, because the next page could not be read. */
  readonly onShortened: (problem: RequestProblem) => void;
}

/**
 * The pieces of an answer: up to `limit` events, a line each, and a last line with the cursor. It ends before its limit where as many
 * events were looked at as may be, or the last page has none that match the condition. Where a page cannot be read, the answer ends
 * after the page before, and its last line says that there are more events. An answer without its last line was cut off, which is so when
 * this throws. `incomplete` in the last line: events at most that belong into the answer and cannot be read; `shortened` and `tooLong`: its
 * long lines (`LongLines`). What is 0 is left out.
 *
 * Each page is read while the one before it is sent. A page that its client does not read may be evicted (see `page-memory.ts`); the
 * events that were not sent are then read again.
 */
export async function* feedAnswer(options: FeedAnswerOptions): AsyncGenerator<readonly AnswerPart[], void, void> {
  const { reading, limit, threads, firstPage, onPiece } = options;
  const { positions } = reading.store;
  let { position } = options;
  let more = firstPage.more;
  let count = 0;
  let unreadable = 0;
  let longLines = NO_LONG_LINES;
  let lookedAt = 0;
  let held: HeldPage | null = firstPage;
  let next: Promise<HeldPage | null> | undefined;
  try {
    while (held !== null) {
      const { page, end, events, more: hasMore }: HeldPage = held;
      let written = 0;
      lookedAt += held.lookedAt;
      const goesOn = events > 0 && lookedAt < mostLookedAt(reading);
      for await (const piece of piecesOf(held, options, threads)) {
        yield [piece.chunk];
        written += piece.events;
        count += piece.events;
        position = positions.advance(position, { sequence: piece.lastSequence });
        longLines = addLongLines(longLines, piece.longLines);
        onPiece(piece);
        const left = limit - count - (events - written);
        if (hasMore && goesOn && left > 0) next ??= begin(options, end, left);
        // The next page is awaited after this one, or never where the answer is cut short.
        next?.catch(() => undefined);
      }
      page.release();
      const isWhole: boolean = written === events;
      more = hasMore || !isWhole;
      unreadable += held.unreadable;
      if (isWhole) position = end;
      else await discard(next);
      if (!isWhole) next = undefined;
      if (more && goesOn && count < limit) next ??= begin(options, position, limit - count);
      held = (await next) ?? null;
      next = undefined;
    }
  } finally {
    held?.page.release();
    void discard(next);
  }
  const exceptions = Object.entries({ incomplete: unreadable, ...longLines }).filter(([, events]) => events > 0);
  yield [`${JSON.stringify({ cursor: positions.encode(position), more, count, ...Object.fromEntries(exceptions) })}\n`];
}

/** The pieces of a page, up to its eviction. */
async function* piecesOf(held: HeldPage, form: LineForm, threads: FeedAnswerOptions['threads']): AsyncGenerator<WrittenPiece, void> {
  for (;;) {
    const piece = await nextPiece(held, form, threads);
    if (piece === undefined) return;
    yield piece;
    held.page.touch();
  }
}

/**
 * The next piece of a page; undefined at its end or after its eviction. A function of its own, so that no suspended frame keeps an evicted
 * page in memory.
 */
async function nextPiece({ page }: HeldPage, form: LineForm, threads: FeedAnswerOptions['threads']): Promise<WrittenPiece | undefined> {
  const { value } = page;
  if (value === undefined) return undefined;
  value.pieces ??= threads.write(value.lines, form);
  const { value: piece, done } = await value.pieces.next();
  return done === true ? undefined : piece;
}

/** Reads the next page; null where the answer has to end before it. */
async function begin({ reading, onShortened }: FeedAnswerOptions, position: FeedPosition, left: number): Promise<HeldPage | null> {
  try {
    return await readPage(position, left, reading);
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    onShortened(error);
    return null;
  }
}

/** Releases a page that is not needed any more. */
async function discard(page: Promise<HeldPage | null> | undefined): Promise<void> {
  // An error of an unneeded page does not matter.
  const held = await page?.catch(() => null);
  held?.page.release();
}

import type { EventStore, FeedLine, FeedPage, FeedRequest } from '../../store/event-store.ts';
import { DeadlinePassed, withDeadline } from '../http/deadline.ts';
import { RequestProblem } from '../http/problem.ts';
import { asStoreProblem } from '../http/store-problem.ts';
import { cursorText, type FeedPosition } from './feed-cursor.ts';
import type { WrittenPiece } from './format-threads.ts';
import type { Held, PageMemory } from './page-memory.ts';

export type FeedStore = Pick<EventStore, 'readFeed' | 'onEvents' | 'expiredWatermark' | 'retentionRuns' | 'lastSequence' | 'storeId'>;

export interface FeedReading {
  readonly store: FeedStore;
  readonly zones: FeedRequest['zones'];
  /** How long one page may take in the store. */
  readonly deadlineMs: number;
  readonly hungUp: AbortSignal;
  readonly memory: PageMemory;
}

/** The lines of a page, and what writes them, once it has begun. */
interface PageContent {
  readonly lines: readonly FeedLine[];
  pieces?: AsyncGenerator<WrittenPiece, void>;
}

/** A page whose lines may be taken away while nobody takes them. */
export interface HeldPage {
  readonly page: Held<PageContent>;
  readonly events: number;
  readonly lastSequence: bigint;
  readonly more: boolean;
}

/** What a page of the store takes at most, but for larger events. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** An event with its lines, as far as can be told before. */
const EVENT_BYTES = 4 * 1024;

/** The bytes of the lines, and of what stands for each of them. */
function bytesOf({ lines }: PageContent): number {
  return lines.reduce((sum, { start, end }) => sum + end - start + 100, 0);
}

/**
 * One page behind a position; null where the retention has dropped events behind it, which the reader has missed. That is asked after
 * the page is read: what is dropped meanwhile may be missing in it. Throws RequestProblem where the page cannot be had at the moment.
 */
export async function readPage(position: FeedPosition, limit: number, reading: FeedReading): Promise<HeldPage | null> {
  const { store, zones, deadlineMs, hungUp, memory } = reading;
  const request = { zones, afterSequence: position.sequence, limit };
  let facts: Omit<FeedPage, 'lines'> = { lastSequence: position.sequence, more: false };
  const make = async (): Promise<PageContent> => {
    const { lines, ...rest } = await withDeadline(deadlineMs, hungUp, (signal) => store.readFeed(request, { signal }));
    facts = rest;
    return { lines };
  };
  const page = await memory.hold(Math.min(PAGE_BYTES, limit * EVENT_BYTES), make, bytesOf, hungUp).catch((error: unknown) => {
    throw asFeedProblem(error);
  });
  const events = page.value?.lines.length ?? 0;
  const isMissed = store.expiredWatermark(zones, position.afterRuns) > position.sequence;
  // An empty page has nothing to hold.
  if (isMissed || events === 0) page.release();
  return isMissed ? null : { page, events, ...facts };
}

function asFeedProblem(error: unknown): unknown {
  if (!(error instanceof DeadlinePassed)) return asStoreProblem(error);
  const detail = `The reading was interrupted: ${error.message}; ask again`;
  return new RequestProblem('search.deadline', detail, { headers: { 'retry-after': '5' }, cause: error });
}

/** The problem of a reader who has missed events: it names the cursor from which it misses no more. */
export function missedEvents(position: FeedPosition, { store }: Pick<FeedReading, 'store'>): RequestProblem {
  const oldestCursor = cursorText({ ...position, afterRuns: store.retentionRuns() }, store);
  const detail = 'Events behind the cursor are past the retention and gone; oldestCursor goes on with the oldest that is kept';
  return new RequestProblem('feed.cursor_expired', detail, { members: { oldestCursor } });
}

export interface Waiting {
  /** How long at most; 0: not at all. */
  readonly waitMs: number;
  /** The program stops: nobody is waited for. */
  readonly stopping: AbortSignal;
  /** Called before it waits, perhaps several times; what it throws ends the waiting. */
  readonly onWait: () => void;
}

/** The first page that has events, or an empty one when the time is up or the program stops. */
export async function awaitPage(
  position: FeedPosition,
  limit: number,
  { waitMs, stopping, onWait }: Waiting,
  reading: FeedReading,
): Promise<HeldPage | null> {
  if (waitMs === 0) return readPage(position, limit, reading);
  const patience = AbortSignal.any([stopping, AbortSignal.timeout(waitMs)]);
  let news = Promise.withResolvers<void>();
  const stopListening = reading.store.onEvents(() => news.resolve());
  const giveUp = () => news.resolve();
  const signals = [patience, reading.hungUp];
  for (const signal of signals) signal.addEventListener('abort', giveUp, { once: true });
  try {
    for (let behind = position; ; ) {
      news = Promise.withResolvers<void>();
      const page = await readPage(behind, limit, reading);
      if (page === null || page.events > 0 || patience.aborted) return page;
      onWait();
      await news.promise;
      reading.hungUp.throwIfAborted();
      if (patience.aborted) return page;
      behind = { ...position, sequence: page.lastSequence };
    }
  } finally {
    stopListening();
    for (const signal of signals) signal.removeEventListener('abort', giveUp);
  }
}

import type { EventStore, FeedPage, FeedRequest } from '../../store/event-store.ts';
import { DeadlinePassed, withDeadline } from '../deadline.ts';
import { RequestProblem } from '../problem.ts';
import { asStoreProblem } from '../store-problem.ts';
import { cursorText, type FeedPosition } from './feed-cursor.ts';

export type FeedStore = Pick<EventStore, 'readFeed' | 'onEvents' | 'expiredWatermark' | 'retentionRuns' | 'lastSequence' | 'storeId'>;

export interface FeedReading {
  readonly store: FeedStore;
  readonly zones: FeedRequest['zones'];
  /** How long one page may take in the store. */
  readonly deadlineMs: number;
  readonly hungUp: AbortSignal;
}

/**
 * One page behind a position; null where the retention has dropped events behind it, which the reader has missed. That is asked after
 * the page is read: what is dropped meanwhile may be missing in it. Throws RequestProblem where the page cannot be had at the moment.
 */
export async function readPage(position: FeedPosition, limit: number, reading: FeedReading): Promise<FeedPage | null> {
  const { store, zones, deadlineMs, hungUp } = reading;
  const request = { zones, afterSequence: position.sequence, limit };
  const page = await withDeadline(deadlineMs, hungUp, (signal) => store.readFeed(request, { signal })).catch((error: unknown) => {
    throw asFeedProblem(error);
  });
  return store.expiredWatermark(zones, position.afterRuns) > position.sequence ? null : page;
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
): Promise<FeedPage | null> {
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
      if (page === null || page.lines.length > 0 || patience.aborted) return page;
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

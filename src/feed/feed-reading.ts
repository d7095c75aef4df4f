import { setTimeout as delay } from 'node:timers/promises';
import type { Predicate } from '../../query/plan/search-plan.ts';
import { mostLookedAt } from '../../query/plan/wanted-events.ts';
import type { CursorAhead, EventStore, FeedLine, FeedPosition, FeedRequest } from '../../store/event-store.ts';
import { Deadline } from '../http/interruption.ts';
import { asReadProblem, RequestProblem } from '../http/problem.ts';
import type { WrittenPiece } from './format-threads.ts';
import type { Held, PageMemory } from './page-memory.ts';

export type FeedStore = Pick<EventStore, 'onEvents' | 'positions'>;

export interface FeedReading {
  readonly store: FeedStore;
  /** The reads of the caller, which wait for its turn. */
  readonly reads: Pick<EventStore, 'readFeed'>;
  readonly zones: FeedRequest['zones'];
  readonly where: Predicate;
  /** How long one page may take in the store. */
  readonly deadlineMs: number;
  readonly hungUp: AbortSignal;
  readonly memory: PageMemory;
}

/** The lines of a page, and the generator that writes them, once it has begun. */
interface PageContent {
  readonly lines: readonly FeedLine[];
  pieces?: AsyncGenerator<WrittenPiece, void>;
}

/** A page that may be evicted while its client does not read. */
export interface HeldPage {
  readonly page: Held<PageContent>;
  readonly events: number;
  readonly end: FeedPosition;
  readonly more: boolean;
  readonly lookedAt: number;
  readonly unreadable: number;
}

/** The limit of a page in the store; a single event may be larger. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** The estimated size of an event before it is read. */
const EVENT_BYTES = 4 * 1024;
/** The estimated size of the objects that hold a line. */
const LINE_OVERHEAD_BYTES = 100;

function bytesOf(lines: readonly FeedLine[]): number {
  return lines.reduce((sum, { start, end }) => sum + end - start + LINE_OVERHEAD_BYTES, 0);
}

/**
 * Reads the page after a position; null where events after it have expired unread. Expiry is checked after the page is read, because events
 * may expire in between. Throws RequestProblem where the page cannot be read now.
 */
export async function readPage(position: FeedPosition, limit: number, reading: FeedReading): Promise<HeldPage | null> {
  const { store, reads, zones, where, deadlineMs, hungUp, memory } = reading;
  let page: Held<PageContent> | undefined;
  try {
    page = await memory.reserve<PageContent>(Math.min(MAX_PAGE_BYTES, limit * EVENT_BYTES), hungUp);
    using deadline = new Deadline(deadlineMs, hungUp);
    const { lines, ...facts } = await reads.readFeed({ zones, where, after: position, limit }, { signal: deadline.signal });
    page.keep({ lines }, bytesOf(lines));
    const hasExpired = (await store.positions.afterExpiry(zones, position)) !== undefined;
    // An empty page needs no memory.
    if (hasExpired || lines.length === 0) page.release();
    return hasExpired ? null : { page, events: lines.length, ...facts };
  } catch (error) {
    page?.release();
    throw asReadProblem(error, 'The reading was interrupted', 'ask again');
  }
}

/** The problem of a cursor after which events have expired. It names the cursor before the oldest event that is left. */
export async function expiredCursor(
  position: FeedPosition,
  { store: { positions }, zones }: Pick<FeedReading, 'zones'> & { readonly store: Pick<FeedStore, 'positions'> },
): Promise<RequestProblem> {
  const oldestCursor = positions.encode((await positions.afterExpiry(zones, position)) ?? position);
  const detail = 'Events behind the cursor are past the retention and gone; oldestCursor goes on with the oldest that is kept';
  return new RequestProblem('feed.cursor_expired', detail, { members: { oldestCursor } });
}

/** The problem of a cursor whose reader has read events that the store does not have. */
export function cursorAhead({ goesOnAfter, isEndKnown }: CursorAhead, { positions }: Pick<FeedStore, 'positions'>): RequestProblem {
  const lacks = 'Events up to the cursor are not here: the program has lost its last ones, or runs on a copy of its data folder';
  const goesOn = isEndKnown
    ? 'oldestCursor goes on with what came since'
    : 'nothing says which the reader has, so oldestCursor begins with the oldest, and events come again';
  return new RequestProblem('feed.cursor_ahead', `${lacks}; ${goesOn}`, { members: { oldestCursor: positions.encode(goesOnAfter) } });
}

export interface Waiting {
  /** The longest wait; 0: none. */
  readonly waitMs: number;
  /** Aborted when the program stops, which ends the wait. */
  readonly stopping: AbortSignal;
  /** Called before each wait. An error ends the waiting. */
  readonly onWait: () => void;
}

/**
 * The pause between two looks for events that match a condition. Every batch wakes its readers, and most batches may have nothing for them.
 */
const LOOK_EVERY_MS = 100;

/**
 * Waits for a page with events, or for one for which as many were looked at as may be. Resolves with an empty page when the time is up or
 * the program stops, and with null as `readPage` does.
 */
export async function awaitPage(
  position: FeedPosition,
  limit: number,
  { waitMs, stopping, onWait }: Waiting,
  reading: FeedReading,
): Promise<HeldPage | null> {
  if (waitMs === 0) return readPage(position, limit, reading);
  const timeUp = AbortSignal.any([stopping, AbortSignal.timeout(waitMs)]);
  let news = Promise.withResolvers<void>();
  const stopListening = reading.store.onEvents(() => news.resolve());
  const giveUp = () => news.resolve();
  const signals = [timeUp, reading.hungUp];
  for (const signal of signals) signal.addEventListener('abort', giveUp, { once: true });
  try {
    for (let [after, lookedAt] = [position, 0]; ; ) {
      news = Promise.withResolvers<void>();
      const page = await readPage(after, limit, reading);
      if (page === null || page.events > 0 || timeUp.aborted) return page;
      lookedAt += page.lookedAt;
      if (lookedAt >= mostLookedAt(reading)) return page;
      onWait();
      if (reading.where.kind !== 'everything') await delay(LOOK_EVERY_MS);
      if (!page.more) await news.promise;
      reading.hungUp.throwIfAborted();
      if (timeUp.aborted) return page;
      after = page.end;
    }
  } finally {
    stopListening();
    for (const signal of signals) signal.removeEventListener('abort', giveUp);
  }
}

import type { FeedLine } from '../../event-store.ts';
import { type IngestTime, ingestClock } from '../snapshot/feed-ingest-times.ts';
import { feedLines } from './feed-lines.ts';
import { firstAbove, type PackedEvents } from './lowest-events.ts';

/** Events and logs of a page together; one event may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** A piece of the feed: all events of a range up to `lastSequence`. */
export interface FeedPiece {
  readonly lines: readonly FeedLine[];
  readonly lastSequence: bigint;
}

/**
 * Holds all events of some zones with a sequence above `after` and up to `upTo` in memory.
 * Segments and blob files are sorted by zone, so a page of the feed reads through all of them; a window does that once for many pages.
 */
export interface FeedWindow {
  readonly after: bigint;
  readonly upTo: bigint;
  /** With their logs; absent where there are none. */
  readonly events?: PackedEvents;
  readonly times: readonly IngestTime[];
}

/** The next events of a window behind `after`, `limit` at most. */
export function readWindow({ events, upTo, times }: FeedWindow, after: bigint, limit: number): FeedPiece {
  if (events === undefined) {
    return { lines: [], lastSequence: upTo };
  }
  const first = firstAbove(events.sequences, Number(after - events.after));
  const lines = feedLines(events, { first, limit, maxBytes: PAGE_BYTES }, ingestClock(times));
  const isLast = first + lines.length === events.count;
  return { lines, lastSequence: isLast ? upTo : (lines.at(-1)?.sequence ?? upTo) };
}

/** Returns true once a reader at `after` is through a quarter of the window, so that the next window is made before it is needed. */
export function isUnderWay({ after: begin, upTo }: FeedWindow, after: bigint): boolean {
  return 4n * (after - begin) >= upTo - begin;
}

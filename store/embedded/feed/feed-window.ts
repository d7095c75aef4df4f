import type { FeedLine } from '../../event-store.ts';
import { type IngestTime, ingestClock } from '../snapshot/feed-ingest-times.ts';
import { feedLines } from './feed-lines.ts';
import type { PackedEvent } from './lowest-events.ts';

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
  /** By ascending sequence, with their logs. */
  readonly events: readonly PackedEvent[];
  readonly times: readonly IngestTime[];
}

/** The next events of a window behind `after`, `limit` at most. */
export function readWindow({ events, upTo, times }: FeedWindow, after: bigint, limit: number): FeedPiece {
  const first = firstBehind(events, after);
  const wanted = events.slice(first, first + Math.min(limit, fittingEvents(events, first)));
  const lines = feedLines(wanted, ingestClock(times), PAGE_BYTES);
  const isLast = first + lines.length === events.length;
  return { lines, lastSequence: isLast ? upTo : (lines.at(-1)?.sequence ?? upTo) };
}

/** Returns true once a reader at `after` is through a quarter of the window, so that the next window is made before it is needed. */
export function isUnderWay({ after: begin, upTo }: FeedWindow, after: bigint): boolean {
  return 4n * (after - begin) >= upTo - begin;
}

function firstBehind(events: readonly PackedEvent[], after: bigint): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle] as PackedEvent).sequence > after) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** So many from the first on make a page even as long as their logs are packed; at least one. */
function fittingEvents(events: readonly PackedEvent[], first: number): number {
  let bytes = 0;
  for (let index = first; index < events.length; index += 1) {
    const { head, log } = events[index] as PackedEvent;
    bytes += head.length + (log?.length ?? 0);
    if (bytes > PAGE_BYTES && index > first) {
      return index - first;
    }
  }
  return events.length - first;
}

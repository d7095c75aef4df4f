import { type FeedPiece, PAGE_BYTES } from '../../feed-excerpts.ts';
import { type IngestTime, ingestClock } from '../snapshot/ingest-times.ts';
import { firstAbove, type PackedEvents } from './lowest-events.ts';
import { packedEventLines } from './packed-event-lines.ts';

/**
 * All events of some zones with a sequence above `after` and up to `upTo`, in memory. Segments and blob files are sorted by zone, so a page
 * of the feed reads through all of them; an excerpt does that once for many pages.
 */
export interface FeedExcerpt {
  readonly after: bigint;
  readonly upTo: bigint;
  /** The events with their logs; absent where there are none. */
  readonly events?: PackedEvents;
  readonly times: readonly IngestTime[];
}

/** The next events of an excerpt behind `after`, at most `limit`. */
export function readExcerpt({ events, upTo, times }: FeedExcerpt, after: bigint, limit: number): FeedPiece {
  if (events === undefined) {
    return { lines: [], lastSequence: upTo };
  }
  const first = firstAbove(events.sequences, Number(after - events.after));
  const lines = packedEventLines(events, { first, limit, maxBytes: PAGE_BYTES }, ingestClock(times));
  const isLast = first + lines.length === events.count;
  return { lines, lastSequence: isLast ? upTo : (lines.at(-1)?.sequence ?? upTo) };
}

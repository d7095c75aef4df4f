import { type FeedPiece, PAGE_BYTES } from '../../feed-excerpts.ts';
import { type IngestTime, ingestClock } from '../snapshot/ingest-times.ts';
import { firstAbove, type PackedEvents } from './lowest-events.ts';
import { packedEventLines } from './packed-event-lines.ts';

/**
 * All wanted events with a sequence above `after` and up to `upTo`, in memory. Segments and blob files are sorted by zone, so a page
 * of the feed reads through all of them; an excerpt does that once for many pages.
 */
export interface FeedExcerpt {
  readonly after: bigint;
  readonly upTo: bigint;
  /** The events with their logs; absent where there are none. */
  readonly events?: PackedEvents;
  readonly times: readonly IngestTime[];
  /** Whether the events have their logs. */
  readonly hasLogs: boolean;
  /** How many events of the zones were looked at for each sequence that it spans, 0 to 1. */
  readonly density: number;
}

/** The next events of an excerpt behind `after`, at most `limit`. */
export function readExcerpt({ events, upTo, times, hasLogs, density }: FeedExcerpt, after: bigint, limit: number): FeedPiece {
  if (events === undefined) {
    return { lines: [], lastSequence: upTo, lookedAt: 0 };
  }
  const first = firstAbove(events.sequences, Number(after - events.after));
  const lines = packedEventLines(events, { first, limit, maxBytes: PAGE_BYTES, hasLogs }, ingestClock(times));
  const isLast = first + lines.length === events.count;
  const lastSequence = isLast ? upTo : (lines.at(-1)?.sequence ?? upTo);
  return { lines, lastSequence, lookedAt: density * Number(lastSequence - after) };
}

import type { ErrorList } from '../../query/error-list.ts';
import { cutText } from '../../query/shown-value.ts';
import { FEED_FORMATS, type FeedFormatName } from '../formats/feed-format.ts';
import { oneOf, readQuery, wholeNumber } from '../http/query-parameters.ts';
import { type CursorStore, type FeedPosition, readCursor } from './feed-cursor.ts';

/** The media types of the feed's answer. */
export const FEED_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

export const MAX_EVENTS = 100_000;
export const DEFAULT_EVENTS = 10_000;
/** Seconds. */
export const LONGEST_WAIT = 30;

export interface FeedQuery {
  readonly position: FeedPosition;
  readonly limit: number;
  readonly format: FeedFormatName;
  /** Milliseconds. */
  readonly waitMs: number;
}

/** The query parameters of the feed. Throws RequestProblem `request.invalid` with everything that is wrong. */
export function feedQuery(query: unknown, store: CursorStore): FeedQuery {
  const { cursor, limit, format, wait } = readQuery<{ cursor: FeedPosition; limit: number; format: FeedFormatName; wait: number }>(query, {
    cursor: cursorOf(store),
    limit: wholeNumber(1, MAX_EVENTS),
    format: oneOf(...FEED_FORMATS),
    wait: wholeNumber(0, LONGEST_WAIT),
  });
  return {
    position: cursor ?? { sequence: 0n, afterRuns: store.retentionRuns() },
    limit: limit ?? DEFAULT_EVENTS,
    format: format ?? 'native',
    waitMs: (wait ?? 0) * 1_000,
  };
}

function cursorOf(store: CursorStore) {
  return (value: unknown, name: string, errors: ErrorList): FeedPosition | undefined => {
    if (value === undefined) return undefined;
    if (value === 'now') return { sequence: store.lastSequence(), afterRuns: store.retentionRuns() };
    const position = typeof value === 'string' ? readCursor(value, store) : 'is given several times';
    if (typeof position !== 'string') return position;
    const shown = typeof value === 'string' ? `${JSON.stringify(cutText(value))} ` : '';
    errors.add(name, `${shown}${position}; allowed: the cursor of an answer, now, or none to begin with the oldest event`);
    return undefined;
  };
}

import type { IncomingHttpHeaders } from 'node:http';
import { InvalidSearchError } from '../../query/invalid-search-error.ts';
import { compileMatcher, type Matcher } from '../../query/match-event.ts';
import { compileMatchRequest } from '../../query/match-event-request.ts';
import { cutText } from '../../query/shown-value.ts';
import { type CursorStore, type FeedPosition, readCursor } from '../feed/feed-cursor.ts';
import { invalidRequest, type Reader, readQuery } from '../query-parameters.ts';

/** What a client of the live tail asks for. */
export interface TailRequest {
  readonly matches: Matcher;
  /** What it has already; where it does not say: everything up to now. */
  readonly position: FeedPosition;
}

const text: Reader<string> = (value, name, errors) => {
  if (value === undefined || typeof value === 'string') return value;
  errors.add(name, 'must be given once');
  return undefined;
};

/**
 * Reads the parameters `search`, the JSON of `query` and `filters`, and `lastEventId`; the header `Last-Event-ID`, which a client sends when it comes
 * back by itself, goes before the latter. Both are ids of the stream, which are cursors of the feed. Throws RequestProblem `request.invalid` with
 * everything that is wrong.
 */
export function readTailRequest(query: unknown, headers: IncomingHttpHeaders, store: CursorStore): TailRequest {
  const { search, lastEventId } = readQuery<{ search: string; lastEventId: string }>(query, { search: text, lastEventId: text });
  const header = headers['last-event-id'];
  const matches = compileMatcher(compile(search ?? '{}'));
  if (typeof header === 'string' && header !== '') return { matches, position: positionOf(header, 'Last-Event-ID', store) };
  if (lastEventId !== undefined) return { matches, position: positionOf(lastEventId, 'lastEventId', store) };
  return { matches, position: { sequence: store.lastSequence(), afterRuns: store.retentionRuns() } };
}

function positionOf(id: string, field: string, store: CursorStore): FeedPosition {
  const position = readCursor(id, store);
  if (typeof position !== 'string') return position;
  throw invalidRequest([
    { field, message: `${JSON.stringify(cutText(id))} ${position}; allowed: an id of this stream, or a cursor of the feed` },
  ]);
}

function compile(search: string): ReturnType<typeof compileMatchRequest> {
  try {
    return compileMatchRequest(Buffer.from(search));
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    throw invalidRequest(error.errors, error);
  }
}

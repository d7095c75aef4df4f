import type { IncomingHttpHeaders } from 'node:http';
import { InvalidSearchError } from '../../query/invalid-search-error.ts';
import { type CostedMatcher, compileMatcher } from '../../query/match-event.ts';
import { compileMatchRequest } from '../../query/match-event-request.ts';
import { cutText } from '../../query/shown-value.ts';
import { type CursorStore, type FeedPosition, readCursor } from '../feed/feed-cursor.ts';
import { invalidRequest, type Reader, readQuery } from '../http/query-parameters.ts';
import { TAIL_WORK } from './tail-work.ts';

/** What a client of the live tail asks for. */
export interface TailRequest {
  readonly matcher: CostedMatcher;
  /** What it has already; where it does not say: everything up to now. */
  readonly position: FeedPosition;
}

const text: Reader<string> = (value, name, errors) => {
  if (value === undefined || typeof value === 'string') return value;
  errors.add(name, 'must be given once');
  return undefined;
};

/**
 * Reads the parameters `search`, the JSON of `query` and `filters`, and `lastEventId`; the header `Last-Event-ID`, which a client sends
 * when it comes back by itself, goes before the latter. Both are ids of the stream, which are cursors of the feed. Throws RequestProblem
 * `request.invalid` with everything that is wrong.
 */
export function readTailRequest(query: unknown, headers: IncomingHttpHeaders, store: CursorStore): TailRequest {
  const { search, lastEventId } = readQuery<{ search: string; lastEventId: string }>(query, { search: text, lastEventId: text });
  const header = headers['last-event-id'];
  const matcher = compileMatcher(compile(search ?? '{}'));
  refuseCostly(matcher);
  if (typeof header === 'string' && header !== '') return { matcher, position: positionOf(header, 'Last-Event-ID', store) };
  if (lastEventId !== undefined) return { matcher, position: positionOf(lastEventId, 'lastEventId', store) };
  return { matcher, position: { sequence: store.lastSequence(), afterRuns: store.retentionRuns() } };
}

/** Here every event is tried as it comes, on the one thread that everybody shares. */
function refuseCostly({ looks }: CostedMatcher): void {
  const errors = [...looks]
    .filter(([, count]) => count > TAIL_WORK.looks)
    .map(([column, count]) => ({
      field: 'search',
      message: `must look through ${column} of an event at most ${TAIL_WORK.looks} times, not ${count}: each wildcard, each term of query and each clause of contains does once`,
    }));
  if (errors.length > 0) throw invalidRequest(errors);
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

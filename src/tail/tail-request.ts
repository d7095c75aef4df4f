import type { IncomingHttpHeaders } from 'node:http';
import { type CostedMatcher, compileMatcher } from '../../query/match/match-event.ts';
import type { Predicate } from '../../query/plan/search-plan.ts';
import { wholeValues } from '../../query/plan/wanted-events.ts';
import { compileConditions } from '../../query/request/compile-search.ts';
import { cutText } from '../../query/request/request-errors.ts';
import { CursorAhead, type EventStore, type FeedPosition } from '../../store/event-store.ts';
import { cursorAhead } from '../feed/feed-reading.ts';
import { compiled, invalidRequest } from '../http/problem.ts';
import { readQuery, textParameter } from '../http/request-parameters.ts';
import { TAIL_WORK } from './tail-limits.ts';

/** A client's request for the live tail. */
export interface TailRequest {
  readonly matcher: CostedMatcher;
  /** The part of the conditions that asks for whole values: the store looks for it, and the matcher tries what it finds. */
  readonly where: Predicate;
  /** The client has every event up to here. Without an id in the request that is the newest event. */
  readonly position: FeedPosition;
}

/**
 * Reads the parameters `search` (JSON with `query`, `filters` and `exclude`) and `lastEventId`. The header `Last-Event-ID`, which a client
 * sends when it reconnects by itself, wins over `lastEventId`. Both are ids of the stream, which are cursors of the feed. Throws
 * RequestProblem: `request.invalid` with everything that is wrong, and `feed.cursor_ahead`.
 */
export async function readTailRequest(
  query: unknown,
  headers: IncomingHttpHeaders,
  { positions }: Pick<EventStore, 'positions'>,
): Promise<TailRequest> {
  const { search, lastEventId } = readQuery<{ search: string; lastEventId: string }>(query, {
    search: textParameter,
    lastEventId: textParameter,
  });
  const header = headers['last-event-id'];
  const conditions = compiled(() => compileConditions(Buffer.from(search ?? '{}')));
  const matcher = compileMatcher(conditions);
  refuseCostly(matcher);
  const where = wholeValues(conditions);
  if (typeof header === 'string' && header !== '')
    return { matcher, where, position: await positionOf(header, 'Last-Event-ID', positions) };
  if (lastEventId !== undefined) return { matcher, where, position: await positionOf(lastEventId, 'lastEventId', positions) };
  return { matcher, where, position: await positions.newest() };
}

/** Throws RequestProblem `request.invalid` for conditions with too many scans, because all tails match on the main thread. */
function refuseCostly({ scans }: CostedMatcher): void {
  const errors = [...scans]
    .filter(([, count]) => count > TAIL_WORK.scans)
    .map(([column, count]) => ({
      field: 'search',
      message:
        `must look through ${column} of an event at most ${TAIL_WORK.scans} times, not ${count}: ` +
        'each wildcard, each term of query and each clause of contains does once',
    }));
  if (errors.length > 0) throw invalidRequest(errors);
}

async function positionOf(id: string, field: string, positions: EventStore['positions']): Promise<FeedPosition> {
  const position = await positions.decode(id);
  if (position instanceof CursorAhead) throw cursorAhead(position, { positions });
  if (typeof position !== 'string') return position;
  throw invalidRequest([
    { field, message: `${JSON.stringify(cutText(id))} ${position}; allowed: an id of this stream, or a cursor of the feed` },
  ]);
}

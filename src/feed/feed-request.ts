import { ZONE_PART_FORM, type ZonePart, zonePartIn } from '../../query/plan/feed-zones.ts';
import type { Predicate } from '../../query/plan/search-plan.ts';
import { compileConditions } from '../../query/request/compile-search.ts';
import { cutText } from '../../query/request/request-errors.ts';
import { CursorAhead, type EventStore, type FeedPosition, type FeedPositions } from '../../store/event-store.ts';
import { DEFAULT_FEED_FORMAT, FEED_FORMAT_NAMES, type FeedFormatName } from '../formats/feed-formats.ts';
import { compiled } from '../http/problem.ts';
import {
  oneOf,
  type RawQuery,
  type Reader,
  readQuery,
  shownParameter,
  textParameter,
  wholeNumberParameter,
} from '../http/request-parameters.ts';
import { cursorAhead } from './feed-reading.ts';
import { MIN_LINE_BYTES } from './line-limit.ts';

export const MAX_EVENTS = 100_000;
export const DEFAULT_EVENTS = 10_000;
export const MAX_WAIT_SECONDS = 30;

export interface FeedQuery {
  readonly position: FeedPosition;
  readonly limit: number;
  readonly format: FeedFormatName;
  /** Milliseconds. */
  readonly waitMs: number;
  /** The most that a line may take, in bytes; null: any length. */
  readonly maxLine: number | null;
  /** The part of the zones that is asked for; null: all of them. */
  readonly part: ZonePart | null;
  /** The condition of `search`. */
  readonly where: Predicate;
}

/**
 * Reads the query parameters of the feed. Throws RequestProblem: `request.invalid` with all faults, and `feed.cursor_ahead` where there is
 * none.
 */
export async function feedQuery(query: unknown, { positions }: Pick<EventStore, 'positions'>): Promise<FeedQuery> {
  const { cursor, limit, format, wait, maxLine, part, search } = readQuery<{
    cursor: FeedPosition | CursorAhead;
    limit: number;
    format: FeedFormatName;
    wait: number;
    maxLine: number;
    part: ZonePart;
    search: string;
  }>(query, {
    cursor: await cursorReader((query as RawQuery | undefined)?.['cursor'], positions),
    limit: wholeNumberParameter(1, MAX_EVENTS),
    format: oneOf(...FEED_FORMAT_NAMES),
    wait: wholeNumberParameter(0, MAX_WAIT_SECONDS),
    maxLine: wholeNumberParameter(MIN_LINE_BYTES, Number.MAX_SAFE_INTEGER),
    part: readPart,
    search: textParameter,
  });
  const where = compiled(() => compileConditions(Buffer.from(search ?? '{}')));
  if (cursor instanceof CursorAhead) throw cursorAhead(cursor, { positions });
  return {
    position: cursor ?? (await positions.oldest()),
    limit: limit ?? DEFAULT_EVENTS,
    format: format ?? DEFAULT_FEED_FORMAT,
    waitMs: (wait ?? 0) * 1_000,
    maxLine: maxLine ?? null,
    part: part ?? null,
    where,
  };
}

const readPart: Reader<ZonePart> = (value, name, errors) => {
  if (value === undefined) return undefined;
  const part = typeof value === 'string' ? zonePartIn(value) : null;
  if (part !== null) return part;
  errors.add(name, `must be ${ZONE_PART_FORM}, not ${shownParameter(value)}`);
  return undefined;
};

/** Makes the reader of `cursor`. The store has to decode the cursor first, because that is asynchronous. */
async function cursorReader(given: unknown, positions: FeedPositions): Promise<Reader<FeedPosition | CursorAhead>> {
  const position = await positionOf(given, positions);
  return (value, name, errors) => {
    if (typeof position !== 'string') return position;
    const shown = typeof value === 'string' ? `${JSON.stringify(cutText(value))} ` : '';
    errors.add(name, `${shown}${position}; allowed: the cursor of an answer, now, or none to begin with the oldest event`);
    return undefined;
  };
}

/** The position of a cursor, or words that say what is wrong with it; undefined without a cursor. */
async function positionOf(cursor: unknown, positions: FeedPositions): Promise<FeedPosition | CursorAhead | string | undefined> {
  if (cursor === undefined) return undefined;
  if (cursor === 'now') return positions.newest();
  return typeof cursor === 'string' ? positions.decode(cursor) : 'is given several times';
}

import type { DuckDBBlobValue, DuckDBConnection } from '@duckdb/node-api';
import { feedExtentStatement, feedLinesStatement, feedSizesStatement } from '../sql/feed-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import type { FeedLine } from './event-store.ts';
import { withLogs } from './feed-hot-lines.ts';
import { linesIn } from './feed-lines.ts';
import type { FeedSource } from './feed-source.ts';

/** Texts and logs of a page together; one event may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_EVENTS = 8_192;

/** A piece of the feed: all events of a stretch up to `lastSequence`. */
export interface FeedPiece {
  readonly lines: readonly FeedLine[];
  readonly lastSequence: bigint;
}

/** The events behind the reader up to a sequence; undefined where there are none. */
export type SourceUpTo = (upTo: bigint) => FeedSource | undefined | Promise<FeedSource | undefined>;

/** Reads the beginning of a stretch that ends with `upTo`. How much of it is a page is asked first where it may be more: one log may be longer than a page. */
export async function readRows(
  sourceUpTo: SourceUpTo,
  upTo: bigint,
  limit: number,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedPiece> {
  const source = await sourceUpTo(upTo);
  const most = Math.min(limit, PAGE_EVENTS);
  const last = source && (isPage(source, most) ? upTo : await lastOfPage(source, most, upTo, connection, signal));
  if (last === undefined) {
    return { lines: [], lastSequence: upTo };
  }
  const { feed, times, stretch, logOf } = (last === upTo ? undefined : await sourceUpTo(last)) ?? (source as FeedSource);
  const [[text] = []] = await runStatement(connection, feedLinesStatement(feed), signal);
  const texts = text === null ? [] : [text as DuckDBBlobValue];
  const lines = linesIn(texts, { after: stretch.after, upTo: last }, times);
  if (logOf === undefined) {
    return { lines, lastSequence: last };
  }
  const whole = withLogs(lines, logOf, PAGE_BYTES);
  return { lines: whole, lastSequence: whole.length < lines.length ? (whole.at(-1)?.sequence ?? last) : last };
}

/** Whether the stretch is a page at most, whatever is in it. */
function isPage({ stretch, mostBytes }: FeedSource, mostEvents: number): boolean {
  return mostBytes <= PAGE_BYTES && stretch.upTo - stretch.after <= BigInt(mostEvents);
}

/** Up to which sequence a page goes; undefined where there are no events. */
async function lastOfPage(
  { feed, logOf }: FeedSource,
  most: number,
  upTo: bigint,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  // Without its logs the extent of a feed says little.
  if (logOf === undefined) {
    const [[events, bytes, highest] = []] = await runStatement(connection, feedExtentStatement(feed, most), signal);
    if (highest === null || Number(bytes) <= PAGE_BYTES) {
      return pageEnd(Number(events), most, highest as bigint | null, upTo);
    }
  }
  const sizes = await runStatement(connection, feedSizesStatement(feed, most), signal);
  let sum = 0;
  const over = sizes.findIndex(([sequence, size], index) => {
    // As it is packed: what it is more is found out when it is unpacked.
    sum += Number(size) + (logOf?.(sequence as bigint).length ?? 0);
    return sum > PAGE_BYTES && index > 0;
  });
  const highest = (sizes.at(-1)?.[0] ?? null) as bigint | null;
  return over === -1 ? pageEnd(sizes.length, most, highest, upTo) : (sizes[over - 1]?.[0] as bigint);
}

/** Where a page of so many events ends, which has room for all of them. Fewer than `most` are all that there are. */
function pageEnd(events: number, most: number, highest: bigint | null, upTo: bigint): bigint | undefined {
  if (highest === null) {
    return undefined;
  }
  return events < most ? upTo : highest;
}

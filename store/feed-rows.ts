import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { feedRowsStatement, feedSizesStatement } from '../sql/feed-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import { runStatement } from './duckdb-engine.ts';
import type { FeedEvent } from './event-store.ts';
import { ingestClock } from './feed-ingest-times.ts';
import type { FeedSource } from './feed-source.ts';

/** Texts and logs of a page together; one event may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_EVENTS = 8_192;

/** A piece of the feed: all events of a stretch up to `lastSequence`. */
export interface FeedPiece {
  readonly events: readonly FeedEvent[];
  readonly lastSequence: bigint;
}

/** The events behind the reader up to a sequence; undefined where there are none. */
export type SourceUpTo = (upTo: bigint) => FeedSource | undefined | Promise<FeedSource | undefined>;

/** Reads the beginning of a stretch that ends with `upTo`, row by row. How much of it is a page is asked first, since one log may be longer than a page. */
export async function readRows(
  sourceUpTo: SourceUpTo,
  upTo: bigint,
  limit: number,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedPiece> {
  const source = await sourceUpTo(upTo);
  if (source === undefined) {
    return { events: [], lastSequence: upTo };
  }
  const most = Math.min(limit, PAGE_EVENTS);
  const sizes = await runStatement(connection, feedSizesStatement(source.feed, most), signal);
  let bytes = 0;
  const over = sizes.findIndex(([, size], index) => {
    bytes += Number(size);
    return bytes > PAGE_BYTES && index > 0;
  });
  const count = over === -1 ? sizes.length : over;
  if (count === 0) {
    return { events: [], lastSequence: upTo };
  }
  const isWhole = over === -1 && sizes.length < most;
  const lastSequence = isWhole ? upTo : (sizes[count - 1]?.[0] as bigint);
  const { feed, times } = (isWhole ? undefined : await sourceUpTo(lastSequence)) ?? source;
  const rows = await runStatement(connection, feedRowsStatement(feed), signal);
  const clock = ingestClock(times);
  return { events: rows.map((row) => feedEvent(row, clock)), lastSequence };
}

function feedEvent([seq, zone, timestamp, log, logId, ...texts]: readonly DuckDBValue[], clock: (sequence: bigint) => number): FeedEvent {
  const fields: Partial<Record<TextField, string>> = {};
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const value = texts[place];
    if (typeof value === 'string') {
      fields[name] = unmarkText(value);
    }
  }
  return {
    sequence: seq as bigint,
    zoneId: Number(zone),
    timestamp: Number(timestamp),
    ingestedAtMs: clock(seq as bigint),
    logId: unmarkText(logId as string),
    fields,
    logJson: log as string,
  };
}

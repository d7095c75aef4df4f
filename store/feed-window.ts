import type { DuckDBBlobValue, DuckDBConnection } from '@duckdb/node-api';
import { feedWindowStatement, windowLinesStatement, windowRowsStatement } from '../sql/feed-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import { choosePage, type FeedBucket, feedBuckets } from './feed-buckets.ts';
import type { IngestTime } from './feed-ingest-times.ts';
import { linesIn } from './feed-lines.ts';
import type { SealedStretch } from './feed-plan.ts';
import type { FeedPiece } from './feed-rows.ts';
import { sealedSource } from './feed-source.ts';
import type { Snapshot } from './live-set.ts';
import type { ReadLinks } from './read-links.ts';

/** About so many events, or so many bytes of them, are handled as one text. */
const BUCKET_EVENTS = 384;
const BUCKET_BYTES = 2 * 1024 * 1024;

/**
 * Sealed events in the order of the feed, as a table in memory (or spilled). Segments and bundles are sorted by zone, so each page of a feed would read
 * through all of them again; this is done once for all pages of a stretch.
 */
export interface FeedWindow {
  readonly table: string;
  readonly stretch: SealedStretch;
  /** Ascending, those that have events. */
  readonly buckets: readonly FeedBucket[];
  readonly times: readonly IngestTime[];
}

export async function buildWindow(
  table: string,
  stretch: SealedStretch,
  snapshot: Snapshot,
  links: ReadLinks,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedWindow> {
  const source = await sealedSource(snapshot, stretch, links, connection, signal);
  if (source === undefined) {
    return { table, stretch, buckets: [], times: [] };
  }
  const { feed, times } = source;
  const count = Math.ceil(Math.max(1, stretch.events / BUCKET_EVENTS, stretch.bytes / BUCKET_BYTES));
  const width = Math.ceil(Number(stretch.upTo - stretch.after) / count);
  await runStatement(connection, feedWindowStatement(table, feed, stretch.after + 1n, width), signal);
  const rows = await runStatement(connection, windowRowsStatement(table), signal);
  return { table, stretch, buckets: feedBuckets(rows, stretch, width), times };
}

/** The next events of a window behind `after`, `limit` at most. */
export async function readWindow(
  { table, buckets, stretch, times }: FeedWindow,
  after: bigint,
  limit: number,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedPiece> {
  const page = choosePage(buckets, after, limit);
  if (page === undefined) {
    return { lines: [], lastSequence: stretch.upTo };
  }
  const wanted = { after, upTo: page.upTo };
  const rows = await runStatement(connection, windowLinesStatement(table, page, wanted), signal);
  const lines = linesIn(
    rows.map(([text]) => text as DuckDBBlobValue),
    wanted,
    times,
  );
  const isCut = lines.length > limit;
  const shown = isCut ? lines.slice(0, limit) : lines;
  return { lines: shown, lastSequence: isCut ? (shown.at(-1)?.sequence ?? after) : page.upTo };
}

/** Whether a reader behind `after` will soon want what comes behind the window: to make one takes half as long as to send one. */
export function isUnderWay({ stretch }: FeedWindow, after: bigint): boolean {
  return 4n * (after - stretch.after) >= stretch.upTo - stretch.after;
}

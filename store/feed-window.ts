import type { DuckDBConnection } from '@duckdb/node-api';
import { feedWindowStatement, windowBucketsStatement, windowLinesStatement } from '../sql/feed-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import { type IngestTime, ingestClock } from './feed-ingest-times.ts';
import { eventsInLines } from './feed-lines.ts';
import type { SealedStretch } from './feed-plan.ts';
import { type FeedPiece, PAGE_BYTES } from './feed-rows.ts';
import { sealedSource } from './feed-source.ts';
import type { Snapshot } from './live-set.ts';

/** About so many events are handled as one text. */
const BUCKET_EVENTS = 1_024;
/** A longer text is not taken into memory; its events are read one by one. */
const LONGEST_LINES = 4 * PAGE_BYTES;

interface Bucket {
  readonly number: number;
  readonly events: number;
  readonly bytes: number;
}

/**
 * Sealed events in the order of the feed, as a table in memory (or spilled). Segments and bundles are sorted by zone, so each page of a feed would read
 * through all of them again; this is done once for all pages of a stretch.
 */
export interface FeedWindow {
  readonly table: string;
  readonly stretch: SealedStretch;
  /** Sequences in a bucket, and in all of them but the last. */
  readonly width: number;
  /** Ascending, those that have events. */
  readonly buckets: readonly Bucket[];
  readonly times: readonly IngestTime[];
}

export async function buildWindow(
  table: string,
  stretch: SealedStretch,
  snapshot: Snapshot,
  segmentsFolder: string,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedWindow> {
  const source = await sealedSource(snapshot, stretch, segmentsFolder, connection, signal);
  if (source === undefined) {
    return { table, stretch, width: 1, buckets: [], times: [] };
  }
  const { feed, times } = source;
  const sequences = Number(stretch.upTo - stretch.after);
  const width = Math.ceil(sequences / Math.max(1, Math.ceil(stretch.events / BUCKET_EVENTS)));
  await runStatement(connection, feedWindowStatement(table, feed, stretch.after + 1n, width), signal);
  const rows = await runStatement(connection, windowBucketsStatement(table), signal);
  const buckets = rows.map(([number, events, bytes]) => ({ number: Number(number), events: Number(events), bytes: Number(bytes) }));
  return { table, stretch, width, buckets, times };
}

/** Part of a window that cannot be read from its lines. */
export interface UnreadableLines {
  readonly kind: 'unreadable';
  /** Inclusive. */
  readonly upTo: bigint;
}

/** The next events of a window behind `after`, `limit` at most; where they cannot be read from the lines, up to where. */
export async function readWindow(
  window: FeedWindow,
  after: bigint,
  limit: number,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedPiece | UnreadableLines> {
  const chosen = chooseBuckets(window, after, limit);
  const [first, last] = [chosen[0], chosen.at(-1)];
  if (first === undefined || last === undefined) {
    return { events: [], lastSequence: window.stretch.upTo };
  }
  if (first.bytes > LONGEST_LINES) {
    return { kind: 'unreadable', upTo: endOf(first, window) };
  }
  const rows = await runStatement(connection, windowLinesStatement(window.table, first.number, last.number), signal);
  const clock = ingestClock(window.times);
  const events = rows.map(([count, lines]) => eventsInLines(lines as string, Number(count), clock));
  if (events.some((inBucket) => inBucket === null)) {
    return { kind: 'unreadable', upTo: endOf(last, window) };
  }
  const behind = events.flatMap((inBucket) => inBucket ?? []).filter(({ sequence }) => sequence > after);
  const page = behind.slice(0, limit);
  const isCut = page.length < behind.length;
  return { events: page, lastSequence: isCut ? (page.at(-1)?.sequence ?? after) : endOf(last, window) };
}

/** Whether a reader behind `after` will soon want what comes behind the window. */
export function isHalfRead({ stretch }: FeedWindow, after: bigint): boolean {
  return 2n * after >= stretch.after + stretch.upTo;
}

/** At least the first that may have events behind `after`, and as many more as make a page. */
function chooseBuckets({ stretch, width, buckets }: FeedWindow, after: bigint, limit: number): Bucket[] {
  const number = Math.floor(Number(after - stretch.after) / width);
  const chosen: Bucket[] = [];
  let [events, bytes] = [0, 0];
  for (const bucket of buckets.slice(firstFrom(buckets, number))) {
    const isFull = bytes + bucket.bytes > PAGE_BYTES || events >= limit;
    if (chosen.length > 0 && isFull) {
      break;
    }
    chosen.push(bucket);
    events += bucket.events;
    bytes += bucket.bytes;
  }
  return chosen;
}

function firstFrom(buckets: readonly Bucket[], number: number): number {
  const place = buckets.findIndex((bucket) => bucket.number >= number);
  return place === -1 ? buckets.length : place;
}

/** Up to which sequence everything is in this bucket or before it. */
function endOf({ number }: Bucket, { stretch, width, buckets }: FeedWindow): bigint {
  const end = stretch.after + BigInt((number + 1) * width);
  return number === buckets.at(-1)?.number || end > stretch.upTo ? stretch.upTo : end;
}

import type { DuckDBBlobVector } from '@duckdb/node-api';
import { areNamed } from '../../../query/plan/feed-zones.ts';
import { mostLookedAt, type WantedEvents } from '../../../query/plan/wanted-events.ts';
import { eventsRelation, type GrowingSource } from '../../../sql/events-relation.ts';
import { type FeedRange, feedHeadsStatement } from '../../../sql/feed-statements.ts';
import { type FeedPiece, PAGE_BYTES } from '../../feed-excerpts.ts';
import { readFlushedLogs } from '../search/log-reader.ts';
import type { ScopeSource } from '../search/search-scope.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { rowsOfZones, type Segment } from '../segment/segment.ts';
import { logOfGrowing, sourcesOf } from '../snapshot/growing-segment.ts';
import { type IngestTime, ingestClock, unpackIngestTimes } from '../snapshot/ingest-times.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import { firstAbove, LowestEvents, type PackedEvents } from './lowest-events.ts';
import { packedEventLines } from './packed-event-lines.ts';

/** The most that is read together: so many events with so many bytes, but at least one event. */
export interface FeedBudget {
  readonly events: number;
  readonly bytes: number;
}

/** So many blob files are read together: each has few events of a small zone, and each is a file to open. */
const MAX_BLOB_FILES = 64;

/** Flushed events that are read together. */
export interface FlushedRange extends FeedRange {
  /** Estimates: the number of its events, and the bytes of their texts. */
  readonly events: number;
  readonly bytes: number;
}

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

type FlushedParts = Pick<Snapshot, 'segments' | 'blobFiles'>;

/**
 * Returns the range of flushed events that a reader at `after` gets next: the blob files that fit into the budget, at least one. Returns
 * undefined where no later event of the zones is flushed. Flushed events come before all unflushed ones in the sequence.
 */
export function nextFlushed(
  { segments, blobFiles }: FlushedParts,
  wanted: WantedEvents,
  after: bigint,
  { events: mostEvents, bytes: mostBytes }: FeedBudget,
): FlushedRange | undefined {
  const { zones, where } = wanted;
  // Of the events that are looked at for a condition only those that match take memory.
  const budget =
    where === undefined ? { events: mostEvents, bytes: mostBytes } : { events: mostLookedAt(wanted), bytes: Number.POSITIVE_INFINITY };
  const chosen: BlobFile[] = [];
  let [events, bytes] = [0, 0];
  const left = blobFiles.filter(({ maxSequence }) => maxSequence > after).sort((a, b) => (a.minSequence < b.minSequence ? -1 : 1));
  for (const blobFile of left) {
    const within = { after, upTo: blobFile.maxSequence };
    const expected = segments.reduce((sum, segment) => sum + rowsOfZones(segment, zones) * overlap(segment, blobFile, within), 0);
    if (expected === 0) {
      continue;
    }
    const more = { events: Math.min(expected, blobFile.rows), bytes: Math.min(expected / blobFile.rows, 1) * blobFile.textBytes };
    const fits = events + more.events <= budget.events && bytes + more.bytes <= budget.bytes && chosen.length < MAX_BLOB_FILES;
    if (chosen.length > 0 && !fits) {
      break;
    }
    chosen.push(blobFile);
    events += more.events;
    bytes += more.bytes;
  }
  const last = chosen.at(-1);
  return last && { ...wanted, after, upTo: last.maxSequence, events, bytes };
}

/**
 * Reads the first flushed events of a range, as many as the budget allows. The excerpt ends before the range where that has more events.
 * Each event is found once, in its segment, which also holds its blob pointer.
 */
export async function readFlushed(range: FlushedRange, budget: FeedBudget, reading: ScopeSource): Promise<FeedExcerpt> {
  const { after, logs: hasLogs = true } = range;
  const parts = partsOf(reading.snapshot, range);
  if (parts === undefined) {
    return { after, upTo: range.upTo, times: [], hasLogs, density: 0 };
  }
  const { aliases, check } = reading;
  // For a part of the zones a statement reads whole segments.
  const segments = await check(parts.segments, areNamed(range.zones) ? range.zones : 'all');
  const paths = segments.map((segment) => aliases.segmentAlias(segment));
  const lowest = await readHeads([], paths, range, budget, reading);
  await readFlushedLogs(lowest.blobPointers, reading, {
    isWanted: (index) => hasLogs && lowest.isKept(index),
    take: (index, log) => lowest.addLog(index, log),
  });
  const times = parts.blobFiles.flatMap(({ ingestTimes }) => unpackIngestTimes(ingestTimes));
  const density = range.events / Number(range.upTo - after);
  return { after, events: lowest.sorted(), upTo: lowest.upTo, times, hasLogs, density };
}

/** Reads the first unflushed events of a range, as {@link readFlushed} does flushed ones. */
export async function readGrowing(range: FeedRange, budget: FeedBudget, reading: ScopeSource): Promise<FeedExcerpt> {
  const { after, logs: hasLogs = true } = range;
  const parts = reading.snapshot.growingSegments.filter(({ lastSequence }) => lastSequence > after);
  const lowest = await readHeads(sourcesOf(parts), [], range, budget, reading);
  for (let index = 0; index < lowest.blobPointers.length; index += 1) {
    if (hasLogs && lowest.isKept(index)) {
      lowest.addLog(index, logOfGrowing(parts, lowest.sequenceOf(index)));
    }
  }
  const times = parts.flatMap(({ journals }) => journals);
  return { after, events: lowest.sorted(), upTo: lowest.upTo, times, hasLogs, density: 1 };
}

async function readHeads(
  growing: readonly GrowingSource[],
  segmentPaths: readonly string[],
  range: FeedRange,
  budget: FeedBudget,
  { runner }: Pick<ScopeSource, 'runner'>,
): Promise<LowestEvents> {
  const events = eventsRelation(growing, segmentPaths, range.upTo + 1n);
  const lowest = new LowestEvents({ ...range, maxBytes: budget.bytes });
  let found = 0;
  let highest = range.after;
  await runner.stream(feedHeadsStatement(events, range, budget.events), (chunk) => {
    const [sequences, pointers, heads] = [0, 1, 2].map((index) => chunk.getColumnVector(index));
    const { rowCount } = chunk;
    for (let row = 0; row < rowCount; row += 1) {
      const sequence = sequences?.getItem(row) as bigint;
      if (sequence > highest) {
        highest = sequence;
      }
      lowest.add(sequence, pointers?.getItem(row) as bigint, (heads as DuckDBBlobVector).getItemBytes(row) as Uint8Array);
    }
    found += rowCount;
    return true;
  });
  if (found >= budget.events) {
    lowest.endAt(highest);
  }
  return lowest;
}

/** The parts that hold the flushed events of a range; undefined where there are none, or where retention removed them. */
function partsOf({ segments, blobFiles }: FlushedParts, range: FeedRange): FlushedParts | undefined {
  const wanted = blobFiles
    .map((blobFile) => ({
      blobFile,
      segments: segments.filter((segment) => overlap(segment, blobFile, range) > 0 && rowsOfZones(segment, range.zones) > 0),
    }))
    .filter((part) => part.segments.length > 0);
  return wanted.length === 0
    ? undefined
    : { blobFiles: wanted.map(({ blobFile }) => blobFile), segments: [...new Set(wanted.flatMap((part) => part.segments))] };
}

/** The share of a segment's sequences, 0 to 1, that lies in a blob file and in a range. */
function overlap({ minSequence, maxSequence }: Segment, blobFile: BlobFile, { after, upTo }: Omit<FeedRange, 'zones'>): number {
  const from = [minSequence, blobFile.minSequence, after + 1n].reduce((highest, sequence) => (sequence > highest ? sequence : highest));
  const to = [maxSequence, blobFile.maxSequence, upTo].reduce((lowest, sequence) => (sequence < lowest ? sequence : lowest));
  return to < from ? 0 : Number(to - from + 1n) / Number(maxSequence - minSequence + 1n);
}

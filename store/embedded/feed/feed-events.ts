import type { DuckDBBlobVector, DuckDBConnection } from '@duckdb/node-api';
import { eventsRelation, type GrowingSource } from '../../../sql/events-relation.ts';
import { type FeedRange, feedHeadsStatement } from '../../../sql/feed-statements.ts';
import { streamStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import { readFlushedLogs } from '../search/log-reader.ts';
import { blobFileWithNumber } from '../segment/blob-file.ts';
import { unpackIngestTimes } from '../snapshot/feed-ingest-times.ts';
import { logOfGrowing, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import { type FeedBudget, partsOf } from './feed-plan.ts';
import type { FeedWindow } from './feed-window.ts';
import { LowestEvents } from './lowest-events.ts';

/** What events are read with. */
export interface FeedReading {
  readonly aliases: PathAliases;
  readonly connection: DuckDBConnection;
  readonly signal: AbortSignal;
}

/**
 * Reads the first flushed events of a range, as many as the budget allows, and ends before the range where that has more.
 * Each event is found once, in its segment, which also says where its log is.
 */
export async function readFlushed(snapshot: Snapshot, range: FeedRange, budget: FeedBudget, reading: FeedReading): Promise<FeedWindow> {
  const parts = partsOf(snapshot, range);
  if (parts === undefined) {
    return { after: range.after, upTo: range.upTo, times: [] };
  }
  const { aliases, signal } = reading;
  const paths = parts.segments.map(({ file }) => aliases.segmentAlias(file));
  const lowest = await readHeads([], paths, range, budget, reading);
  const blobFile = (number: number) => blobFileWithNumber(snapshot.blobFiles, number);
  await readFlushedLogs(
    lowest.blobPointers,
    { blobFile, segmentsFolder: aliases.segmentsFolder, signal },
    { isWanted: (index) => lowest.isKept(index), take: (index, log) => lowest.addLog(index, log) },
  );
  const times = parts.blobFiles.flatMap(({ ingestTimes }) => unpackIngestTimes(ingestTimes));
  return { after: range.after, events: lowest.sorted(), upTo: lowest.upTo, times };
}

/** The same of the growing events. */
export async function readGrowing(
  { growingSegments }: Pick<Snapshot, 'growingSegments'>,
  range: FeedRange,
  budget: FeedBudget,
  reading: FeedReading,
): Promise<FeedWindow> {
  const parts = growingSegments.filter(({ lastSequence }) => lastSequence > range.after);
  const lowest = await readHeads(sourcesOf(parts), [], range, budget, reading);
  for (let index = 0; index < lowest.blobPointers.length; index += 1) {
    if (lowest.isKept(index)) {
      lowest.addLog(index, logOfGrowing(parts, lowest.sequenceOf(index)));
    }
  }
  const times = parts.flatMap(({ journals }) => journals);
  return { after: range.after, events: lowest.sorted(), upTo: lowest.upTo, times };
}

async function readHeads(
  growing: readonly GrowingSource[],
  segmentPaths: readonly string[],
  range: FeedRange,
  budget: FeedBudget,
  { aliases, connection, signal }: FeedReading,
): Promise<LowestEvents> {
  const events = eventsRelation(growing, segmentPaths, range.upTo + 1n);
  const lowest = new LowestEvents({ ...range, maxBytes: budget.bytes });
  let found = 0;
  let highest = range.after;
  const reading = streamStatement(connection, feedHeadsStatement(events, range, budget.events), signal, (chunk) => {
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
  await aliases.withOriginalPaths(reading);
  if (found >= budget.events) {
    lowest.endAt(highest);
  }
  return lowest;
}

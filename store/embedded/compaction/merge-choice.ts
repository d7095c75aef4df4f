import type { Segment } from '../segment/segment.ts';
import { HOUR_MS, LONG_PARTITION_MS, MAX_SEGMENT_ROWS } from '../segment/segment-plan.ts';
import { type SequenceRun, sequenceRuns, totalRows } from '../segment/sequence-runs.ts';
import { zoneRowsOf } from '../segment/zone-rows.ts';

/** So many small segments of one hour are merged while the hour still receives events. */
const MANY_SMALL_SEGMENTS = 8;
const SMALL_SEGMENT_ROWS = 100_000;

/** A time partition is old when it has been over for this long; what arrives later makes small segments that are merged in turn. */
const OLD_AFTER_MS = HOUR_MS;

/**
 * Old time partitions of these lengths are put together, the longest first. The steps between an hour and the longest keep the hours of the
 * last day from being a file or more each, for one more time that every event is written.
 */
const OLD_PARTITIONS_MS = [LONG_PARTITION_MS, 3 * HOUR_MS, HOUR_MS];

/** Once the events of a zone are in so many segments of an old time partition, those are merged, however large they are. */
const MANY_LAYERS = 3;

/**
 * A zone is never split, so one that has more events in a time partition stays in several segments of it: a merge sorts a segment at a
 * time.
 */
const LARGEST_ZONE_ROWS = 2_000_000;

/** One core merges so many events in half a minute. */
const LARGEST_MERGE_ROWS = 8_000_000;

/**
 * So many runs of about one size are merged while their hour receives events. Fresh segments are as quickly searched as merged ones until
 * there are many; with fewer at a time every event would be written more often than once again.
 */
const MANY_RUNS = 64;

/** Or fewer, where no more can be merged at once. */
const FEW_RUNS = 4;

/** Segments that are to become as few as possible, all of one time partition. */
export interface Merge {
  readonly partition: number;
  readonly partitionMs: number;
  readonly segments: readonly Segment[];
}

/** The next merge that is worth its work, or undefined: old time partitions first, then busy hours in many pieces. */
export function chooseMerge(segments: readonly Segment[], nowMs: number): Merge | undefined {
  return chooseOldPartition(segments, nowMs) ?? chooseSmallOnes(segments) ?? chooseRuns(segments, nowMs);
}

function chooseOldPartition(segments: readonly Segment[], nowMs: number): Merge | undefined {
  for (const partitionMs of OLD_PARTITIONS_MS) {
    for (const [partition, all] of byPartition(segments, partitionMs)) {
      const chosen = isOldPartition(partition, partitionMs, nowMs) && totalRows(all) <= LARGEST_MERGE_ROWS ? worthMerging(all) : [];
      if (chosen.length > 1 && largestZone(chosen) <= LARGEST_ZONE_ROWS) {
        return { partition, partitionMs, segments: chosen };
      }
    }
  }
  return undefined;
}

/** Those of an old time partition that are better merged. */
function worthMerging(all: readonly Segment[]): readonly Segment[] {
  const small = all.filter(({ rows }) => rows < MAX_SEGMENT_ROWS / 2);
  return layersOf(all) >= MANY_LAYERS ? all : halvesBySize(small) ? small : [];
}

/** In how many of the segments the zone is that is in most of them. */
function layersOf(segments: readonly Segment[]): number {
  const layers = zoneRowsOf(segments.flatMap(({ zoneRows }) => [...zoneRows.keys()].map((zone) => [zone, 1] as const)));
  return largestOf(layers);
}

/** As long as the merged segments are fewer than half of what there was, every event is rewritten a logarithmic number of times. */
function halvesBySize(segments: readonly Segment[]): boolean {
  return segments.length >= 2 * Math.ceil(totalRows(segments) / MAX_SEGMENT_ROWS);
}

function chooseSmallOnes(segments: readonly Segment[]): Merge | undefined {
  const small = segments.filter(({ rows }) => rows < SMALL_SEGMENT_ROWS);
  for (const partitionMs of [HOUR_MS, LONG_PARTITION_MS]) {
    for (const [partition, inPartition] of byPartition(small, partitionMs)) {
      const chosen = upToFull(inPartition);
      if (chosen.length >= MANY_SMALL_SEGMENTS) {
        return { partition, partitionMs, segments: chosen };
      }
    }
  }
  return undefined;
}

/**
 * Of an hour, or half a day, that receives more than is merged at once: what came in one after the other, in pieces of about one size, so
 * that the large do not have to be written again for the small. Half days are for what lies in several hours: flushes with events that came
 * late.
 */
function chooseRuns(segments: readonly Segment[], nowMs: number): Merge | undefined {
  for (const partitionMs of [HOUR_MS, LONG_PARTITION_MS]) {
    for (const [partition, inPartition] of byPartition(segments, partitionMs)) {
      const chosen = firstEvenRuns(sequenceRuns(inPartition), isOldPartition(partition, partitionMs, nowMs));
      if (chosen !== undefined) {
        return { partition, partitionMs, segments: chosen };
      }
    }
  }
  return undefined;
}

function firstEvenRuns(runs: readonly SequenceRun[], isIdle: boolean): readonly Segment[] | undefined {
  for (const first of runs.keys()) {
    const fit = fitting(runs.slice(first, first + MANY_RUNS));
    const mayGrow = !isIdle && first + fit.length === runs.length;
    const chosen = fit.flatMap(({ segments }) => segments);
    if (fit.length >= (mayGrow ? MANY_RUNS : FEW_RUNS) && areEven(fit) && isWorth(chosen)) {
      return chosen;
    }
  }
  return undefined;
}

/** The first of the runs, as many as can be merged at once. */
function fitting(runs: readonly SequenceRun[]): SequenceRun[] {
  let [rows, zoneRows] = [0, 0];
  const tooMany = runs.findIndex((run) => {
    rows += run.rows;
    zoneRows += run.zoneRows;
    return rows > LARGEST_MERGE_ROWS || zoneRows > LARGEST_ZONE_ROWS;
  });
  return runs.slice(0, tooMany === -1 ? runs.length : tooMany);
}

function areEven(runs: readonly SequenceRun[]): boolean {
  return Math.max(...runs.map(({ rows }) => rows)) <= (2 * totalRows(runs)) / runs.length;
}

/** That every zone is in one segment afterwards is what the work is for: so no merge is followed by the same one. */
function isWorth(segments: readonly Segment[]): boolean {
  return layersOf(segments) >= MANY_LAYERS && largestZone(segments) <= LARGEST_ZONE_ROWS;
}

function isOldPartition(partition: number, partitionMs: number, nowMs: number): boolean {
  return (partition + 1) * partitionMs + OLD_AFTER_MS <= nowMs;
}

/** The smallest of the segments, as many as fit into one. */
function upToFull(segments: readonly Segment[]): Segment[] {
  let rows = 0;
  return [...segments]
    .sort((a, b) => a.rows - b.rows)
    .filter((segment) => {
      rows += segment.rows;
      return rows <= MAX_SEGMENT_ROWS;
    });
}

/** The segments that lie within one time partition, by its number; a segment over several time partitions is in none. */
function byPartition(segments: readonly Segment[], partitionMs: number): Map<number, Segment[]> {
  const partitionOf = (timestamp: number) => Math.floor(timestamp / partitionMs);
  const within = segments.filter(({ minTimestamp, maxTimestamp }) => partitionOf(minTimestamp) === partitionOf(maxTimestamp));
  return Map.groupBy(within, ({ minTimestamp }) => partitionOf(minTimestamp));
}

function largestZone(segments: readonly Segment[]): number {
  return largestOf(zoneRowsOf(segments.flatMap(({ zoneRows }) => [...zoneRows])));
}

function largestOf(numbers: ReadonlyMap<number, number>): number {
  return [...numbers.values()].reduce((largest, number) => Math.max(largest, number), 0);
}

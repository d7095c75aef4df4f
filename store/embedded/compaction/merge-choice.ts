import { HOUR_MS } from '../../../query/durations.ts';
import { LONG_PARTITION_MS, MAX_SEGMENT_ROWS } from '../../../sql/segment-layout.ts';
import { type Segment, zoneRowsOf } from '../segment/segment.ts';
import { hasShortRowGroups } from '../segment/segment-blocks.ts';

/** This many small segments of one hour are merged while the hour still receives events. */
const MANY_SMALL_SEGMENTS = 8;
const SMALL_SEGMENT_ROWS = 100_000;

/** A time partition is old when it ended this long ago. Later events make small segments, which are merged in turn. */
export const OLD_AFTER_MS = HOUR_MS;

/**
 * Lengths to which old time partitions are merged, the longest first. The lengths between keep an hour of the last day from having a file
 * or more of its own, and cost one more write of every event.
 */
const OLD_PARTITIONS_MS = [LONG_PARTITION_MS, 3 * HOUR_MS, HOUR_MS];

/** The segments of an old time partition are merged, however large they are, once a zone has events in this many of them. */
const MANY_LAYERS = 3;

/**
 * A merge has no more events of one zone, because it never splits a zone and sorts a segment at a time. A larger zone stays in several
 * segments.
 */
const LARGEST_ZONE_ROWS = 2_000_000;

/** The most events of a merge. One core merges them in half a minute. */
export const LARGEST_MERGE_ROWS = 8_000_000;

/**
 * This many runs of about one size are merged while their hour receives events. Up to that number fresh segments are searched as quickly as
 * merged ones. Higher value searches more segments; lower value writes every event more often. One merge takes no more runs than
 * this.
 */
const MANY_RUNS = 64;

/** Fewer runs are merged where more would exceed a merge, down to this many. */
const FEW_RUNS = 4;

/** Segments of one time partition to merge into as few as possible: `planPartition` cuts the result between zones. */
export interface Merge {
  readonly partition: number;
  readonly partitionMs: number;
  readonly segments: readonly Segment[];
}

/**
 * Chooses the next merge that is worth its work, or none: old time partitions first, then busy hours in many pieces. A merge may have any
 * number of segments, but no more than `mostRows` events. Segments with long texts stay as they are, because DuckDB, which writes merges,
 * ends no row group early.
 */
export function chooseMerge(all: readonly Segment[], nowMs: number, mostRows = LARGEST_MERGE_ROWS): Merge | undefined {
  const segments = all.filter((segment) => !hasShortRowGroups(segment));
  return chooseOldPartition(segments, nowMs, mostRows) ?? chooseSmallOnes(segments, mostRows) ?? chooseRuns(segments, nowMs, mostRows);
}

function chooseOldPartition(segments: readonly Segment[], nowMs: number, mostRows: number): Merge | undefined {
  for (const partitionMs of OLD_PARTITIONS_MS) {
    for (const [partition, all] of byPartition(segments, partitionMs)) {
      const chosen = isOldPartition(partition, partitionMs, nowMs) && totalRows(all) <= mostRows ? worthMerging(all) : [];
      if (chosen.length > 1 && largestZone(chosen) <= LARGEST_ZONE_ROWS) {
        return { partition, partitionMs, segments: chosen };
      }
    }
  }
  return undefined;
}

/** The segments of an old time partition that are worth a merge. */
function worthMerging(all: readonly Segment[]): readonly Segment[] {
  const small = all.filter(({ rows }) => rows < MAX_SEGMENT_ROWS / 2);
  return layersOf(all) >= MANY_LAYERS ? all : halvesBySize(small) ? small : [];
}

/** The largest number of segments that one zone is in. */
function layersOf(segments: readonly Segment[]): number {
  const layers = zoneRowsOf(segments.flatMap(({ zoneRows }) => [...zoneRows.keys()].map((zone) => [zone, 1] as const)));
  return largestOf(layers);
}

/** Whether a merge leaves at most half as many segments. Then every event is rewritten a logarithmic number of times. */
function halvesBySize(segments: readonly Segment[]): boolean {
  return segments.length >= 2 * Math.ceil(totalRows(segments) / MAX_SEGMENT_ROWS);
}

function chooseSmallOnes(segments: readonly Segment[], mostRows: number): Merge | undefined {
  const small = segments.filter(({ rows }) => rows < SMALL_SEGMENT_ROWS);
  for (const partitionMs of [HOUR_MS, LONG_PARTITION_MS]) {
    for (const [partition, inPartition] of byPartition(small, partitionMs)) {
      const chosen = upToFull(inPartition, Math.min(MAX_SEGMENT_ROWS, mostRows));
      if (chosen.length >= MANY_SMALL_SEGMENTS) {
        return { partition, partitionMs, segments: chosen };
      }
    }
  }
  return undefined;
}

/**
 * Chooses segments of an hour or half a day with more events than one merge may have: consecutive runs of about one size, so that large
 * segments are not rewritten for small ones. Half days have the flushes with late events, which span several hours.
 */
function chooseRuns(segments: readonly Segment[], nowMs: number, mostRows: number): Merge | undefined {
  for (const partitionMs of [HOUR_MS, LONG_PARTITION_MS]) {
    for (const [partition, inPartition] of byPartition(segments, partitionMs)) {
      const chosen = firstEvenRuns(sequenceRuns(inPartition), isOldPartition(partition, partitionMs, nowMs), mostRows);
      if (chosen !== undefined) {
        return { partition, partitionMs, segments: chosen };
      }
    }
  }
  return undefined;
}

function firstEvenRuns(runs: readonly SequenceRun[], isIdle: boolean, mostRows: number): readonly Segment[] | undefined {
  for (const first of runs.keys()) {
    const fit = fitting(runs.slice(first, first + MANY_RUNS), mostRows);
    const mayGrow = !isIdle && first + fit.length === runs.length;
    const chosen = fit.flatMap(({ segments }) => segments);
    if (fit.length >= (mayGrow ? MANY_RUNS : FEW_RUNS) && areEven(fit) && isWorth(chosen)) {
      return chosen;
    }
  }
  return undefined;
}

/** The first runs, as many as one merge may have. */
function fitting(runs: readonly SequenceRun[], mostRows: number): SequenceRun[] {
  let [rows, zoneRows] = [0, 0];
  const tooMany = runs.findIndex((run) => {
    rows += run.rows;
    zoneRows += run.zoneRows;
    return rows > mostRows || zoneRows > LARGEST_ZONE_ROWS;
  });
  return runs.slice(0, tooMany === -1 ? runs.length : tooMany);
}

function areEven(runs: readonly SequenceRun[]): boolean {
  return Math.max(...runs.map(({ rows }) => rows)) <= (2 * totalRows(runs)) / runs.length;
}

/** Whether the merge brings a zone from several segments into one. So no merge is followed by the same one. */
function isWorth(segments: readonly Segment[]): boolean {
  return layersOf(segments) >= MANY_LAYERS && largestZone(segments) <= LARGEST_ZONE_ROWS;
}

function isOldPartition(partition: number, partitionMs: number, nowMs: number): boolean {
  return (partition + 1) * partitionMs + OLD_AFTER_MS <= nowMs;
}

/** The smallest of the segments, as many as have so many events together. */
function upToFull(segments: readonly Segment[], mostRows: number): Segment[] {
  let rows = 0;
  return [...segments]
    .sort((a, b) => a.rows - b.rows)
    .filter((segment) => {
      rows += segment.rows;
      return rows <= mostRows;
    });
}

/** The segments by the number of their time partition. A segment over several time partitions is in none. */
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

/** Segments with overlapping sequences: mostly those that one flush or one merge wrote. */
interface SequenceRun {
  readonly segments: readonly Segment[];
  readonly rows: number;
  /** A lower bound of the events of its largest zone: those in one of the segments. */
  readonly zoneRows: number;
}

/** The runs of the segments, in the order of their sequences. */
function sequenceRuns(segments: readonly Segment[]): SequenceRun[] {
  const runs: Segment[][] = [];
  let end = -1n;
  for (const segment of segments.toSorted((a, b) => Number(a.minSequence - b.minSequence))) {
    if (segment.minSequence > end) {
      runs.push([]);
    }
    runs.at(-1)?.push(segment);
    end = segment.maxSequence > end ? segment.maxSequence : end;
  }
  return runs.map((run) => ({ segments: run, rows: totalRows(run), zoneRows: Math.max(...run.map(largestZoneRows)) }));
}

/** The events of segments together. */
export function totalRows(parts: Iterable<{ readonly rows: number }>): number {
  let sum = 0;
  for (const { rows } of parts) {
    sum += rows;
  }
  return sum;
}

/** Caches the rows of the largest zone of segments, which never change and may have thousands of zones. */
const LARGEST_ZONES = new WeakMap<Segment, number>();

function largestZoneRows(segment: Segment): number {
  const largest = LARGEST_ZONES.get(segment) ?? largestOf(segment.zoneRows);
  LARGEST_ZONES.set(segment, largest);
  return largest;
}

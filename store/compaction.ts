import { segmentRows } from '../sql/events-relation.ts';
import type { Segment } from './segment.ts';
import { HOUR_MS, LONG_SLAB_MS, MAX_SEGMENT_ROWS, planSlab, type SlabZone } from './segment-plan.ts';
import { type RewriteOptions, rewriteAsSegments } from './segment-rewrite.ts';
import { zoneRowsOf } from './zone-rows.ts';

/** So many small segments of one hour are merged while the hour still receives events. */
const MANY_SMALL_SEGMENTS = 8;
const SMALL_SEGMENT_ROWS = 100_000;

/** A slab is quiet when it has been over for this long; what arrives later makes small segments that are merged in turn. */
const QUIET_AFTER_MS = HOUR_MS;

/**
 * Quiet slabs of these lengths are put together, the longest first. The steps between an hour and the longest keep the hours of the last day from being
 * a file or more each, for one more time that every event is written.
 */
const QUIET_SLABS_MS = [LONG_SLAB_MS, 3 * HOUR_MS, HOUR_MS];

/** Once the events of a zone are in so many segments of a quiet slab, those are merged, however large they are. */
const MANY_LAYERS = 3;

/** A zone is never split, so one that has more events in a slab stays in segments of shorter ones: a merge sorts a segment at a time. */
const LARGEST_ZONE_ROWS = 2_000_000;

/** Segments that are to become as few as possible, all of one time slab. */
export interface Merge {
  readonly slab: number;
  readonly slabMs: number;
  readonly segments: readonly Segment[];
}

/** The next merge that is worth its work, or undefined: quiet slabs first, then busy hours in many pieces. */
export function chooseMerge(segments: readonly Segment[], nowMs: number): Merge | undefined {
  return chooseQuietSlab(segments, nowMs) ?? chooseBusyHour(segments);
}

function chooseQuietSlab(segments: readonly Segment[], nowMs: number): Merge | undefined {
  for (const slabMs of QUIET_SLABS_MS) {
    for (const [slab, all] of bySlab(segments, slabMs)) {
      const isQuiet = (slab + 1) * slabMs + QUIET_AFTER_MS <= nowMs;
      const small = all.filter(({ rows }) => rows < MAX_SEGMENT_ROWS / 2);
      const together = layersOf(all) >= MANY_LAYERS ? all : halvesBySize(small) ? small : [];
      if (isQuiet && together.length > 1 && largestZone(together) <= LARGEST_ZONE_ROWS) {
        return { slab, slabMs, segments: together };
      }
    }
  }
  return undefined;
}

/** In how many of the segments the zone is that is in most of them. */
function layersOf(segments: readonly Segment[]): number {
  const layers = zoneRowsOf(segments.flatMap(({ zoneRows }) => [...zoneRows.keys()].map((zone) => [zone, 1] as const)));
  return largestOf(layers);
}

/** As long as the merged segments are fewer than half of what there was, every event is rewritten a logarithmic number of times. */
function halvesBySize(segments: readonly Segment[]): boolean {
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  return segments.length >= 2 * Math.ceil(rows / MAX_SEGMENT_ROWS);
}

function chooseBusyHour(segments: readonly Segment[]): Merge | undefined {
  const small = segments.filter(({ rows }) => rows < SMALL_SEGMENT_ROWS);
  for (const slabMs of [HOUR_MS, LONG_SLAB_MS]) {
    for (const [slab, inSlab] of bySlab(small, slabMs)) {
      const together = upToFull(inSlab);
      if (together.length >= MANY_SMALL_SEGMENTS) {
        return { slab, slabMs, segments: together };
      }
    }
  }
  return undefined;
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

/** The segments that lie within one slab, by its number; a segment over several slabs is in none. */
function bySlab(segments: readonly Segment[], slabMs: number): Map<number, Segment[]> {
  const slabOf = (timestamp: number) => Math.floor(timestamp / slabMs);
  const within = segments.filter(({ minTimestamp, maxTimestamp }) => slabOf(minTimestamp) === slabOf(maxTimestamp));
  return Map.groupBy(within, ({ minTimestamp }) => slabOf(minTimestamp));
}

function largestZone(segments: readonly Segment[]): number {
  return largestOf(zoneRowsOf(segments.flatMap(({ zoneRows }) => [...zoneRows])));
}

function largestOf(numbers: ReadonlyMap<number, number>): number {
  return [...numbers.values()].reduce((largest, number) => Math.max(largest, number), 0);
}

/** The logs stay where they are. */
export async function runMerge({ slab, slabMs, segments }: Merge, options: RewriteOptions): Promise<void> {
  const paths = segments.map(({ file }) => options.links.toSegment(file));
  const events = segmentRows(paths);
  const source = {
    stem: `c${segments[0]?.id ?? 0}-${options.now().toString(36)}`,
    events,
    rows: () => () => ({ rows: events, inOrder: false }),
    slabMs,
    plan: (counts: readonly SlabZone[]) => planSlab(slab, slabMs, counts),
  };
  await options.links.explaining(rewriteAsSegments(source, segments, options));
}

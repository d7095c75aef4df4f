import { join } from 'node:path';
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

/** Segments that are to become as few as possible, all of one time slab. */
export interface Merge {
  readonly slab: number;
  readonly slabMs: number;
  readonly segments: readonly Segment[];
}

/** The next merge that is worth its work, or undefined: quiet six-hour slabs first, then busy hours in many pieces. */
export function chooseMerge(segments: readonly Segment[], nowMs: number): Merge | undefined {
  return chooseQuietSlab(segments, nowMs) ?? chooseBusyHour(segments);
}

function chooseQuietSlab(segments: readonly Segment[], nowMs: number): Merge | undefined {
  for (const [slab, all] of bySlab(segments, LONG_SLAB_MS)) {
    const small = all.filter(({ rows }) => rows < MAX_SEGMENT_ROWS / 2);
    const rows = small.reduce((sum, segment) => sum + segment.rows, 0);
    const isQuiet = (slab + 1) * LONG_SLAB_MS + QUIET_AFTER_MS <= nowMs;
    // As long as the merged segments are fewer than half of what there was, every event is rewritten a logarithmic number of times.
    if (isQuiet && small.length > 1 && small.length >= 2 * Math.ceil(rows / MAX_SEGMENT_ROWS) && largestZone(small) <= MAX_SEGMENT_ROWS) {
      return { slab, slabMs: LONG_SLAB_MS, segments: small };
    }
  }
  return undefined;
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
  const rows = zoneRowsOf(segments.flatMap(({ zoneRows }) => [...zoneRows]));
  return [...rows.values()].reduce((largest, events) => Math.max(largest, events), 0);
}

/** The logs stay where they are. */
export async function runMerge({ slab, slabMs, segments }: Merge, options: RewriteOptions): Promise<void> {
  const paths = segments.map(({ file }) => join(options.segmentsFolder, file));
  const rewrite = {
    stem: `c${segments[0]?.id ?? 0}-${options.now().toString(36)}`,
    events: segmentRows(paths),
    hotTables: [],
    segments,
    slabMs,
    plan: (counts: readonly SlabZone[]) => planSlab(slab, slabMs, counts),
  };
  await rewriteAsSegments(rewrite, options);
}

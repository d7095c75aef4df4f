import type { Segment } from '../segment/segment.ts';

/** Says which zones are worth a table in memory, and how much memory all tables may take. */
export interface ZoneRowCacheLimits {
  /** A zone with more flushed events has none: reading its rows is most of what its searches cost, wherever they lie. */
  readonly maxRows: number;
  /** What all tables may take, as `estimateBytes` has it. */
  readonly maxBytes: number;
  /** So many files that a search reads are worth a table. */
  readonly manyFiles: number;
  /** So many zones wait for their table at most. */
  readonly maxWaiting: number;
  /** How long the making of a table waits for moments without a search, in all. */
  readonly maxWaitMs: number;
  /** How long a table stays that no search uses, and how far two searches of a zone may be apart to ask for one. */
  readonly keptMs: number;
  /** How soon the table of a zone may be made anew. */
  readonly remadeAfterMs: number;
  /** A table that was used more recently does not have to make room for another one: too many zones would take turns. */
  readonly inUseMs: number;
  /** How long none is made after something went wrong. */
  readonly pauseMs: number;
}

const MEBIBYTE = 1024 * 1024;

/**
 * The more memory DuckDB may have, the more tables, up to what some sixty zones of 10,000 events take. While a table is made it takes seven
 * times as much as later.
 */
export function zoneRowCacheLimits(memoryLimitMb: number): ZoneRowCacheLimits {
  return {
    maxRows: Math.min(50_000, 50 * memoryLimitMb),
    maxBytes: Math.min(64, memoryLimitMb / 16) * MEBIBYTE,
    manyFiles: 3,
    maxWaiting: 16,
    maxWaitMs: 1_000,
    keptMs: 5 * 60_000,
    remadeAfterMs: 60_000,
    inUseMs: 30_000,
    pauseMs: 60_000,
  };
}

/** DuckDB gives memory in blocks of this. */
const BLOCK_BYTES = MEBIBYTE / 4;

/** Compressed in memory, rows take up to twice what they take in a file. */
const TIMES_AS_IN_FILES = 2;

/** What the rows of a zone in these segments will take in memory, compressed, and their times once more. */
export function estimateBytes(zoneId: number, segments: readonly Segment[]): number {
  const zoneRowsIn = ({ zoneRows }: Segment) => zoneRows.get(zoneId) ?? 0;
  const inFiles = segments.reduce((sum, segment) => sum + (segment.bytes * zoneRowsIn(segment)) / segment.rows, 0);
  const times = segments.reduce((sum, segment) => sum + Float64Array.BYTES_PER_ELEMENT * zoneRowsIn(segment), 0);
  return Math.round(BLOCK_BYTES + TIMES_AS_IN_FILES * inFiles + times);
}

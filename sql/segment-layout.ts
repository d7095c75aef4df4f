import { HOUR_MS } from '../query/durations.ts';
import type { EventColumnName } from './columns.ts';

/**
 * How segments lie on disk. The SQL statements and the WebAssembly kernel that write segments both read it from here. The columns and their
 * order are `SEGMENT_COLUMNS` of `columns.ts`.
 */

/** Columns with a value for every event, in journals and in segments. */
export const REQUIRED_COLUMNS = ['seq', 'shieldZoneId', 'timestamp', 'unfolded', 'logPlace'] as const satisfies readonly EventColumnName[];

/** Sort order of the rows. Searches skip row groups by zone and by time; `seq` makes the order unique. */
export const SEGMENT_ORDER = ['shieldZoneId', 'timestamp', 'seq'] as const satisfies readonly EventColumnName[];

export type ZoneSize = 'large' | 'small';

/**
 * A zone with this many rows in a segment is large. The kernel tells zone by zone (`rowGroupsOf`); a statement of DuckDB has one size of
 * row group, so there the average of the segment decides (`planPartition`).
 */
export const LARGE_ZONE_ROWS = 4_096;

/**
 * Maximum rows of a row group. A search in a large zone reads many rows, which share values with one another. A search in a small zone
 * reads a whole row group, so those are small.
 */
export const ROW_GROUP_ROWS: Readonly<Record<ZoneSize, number>> = { large: 32_768, small: 8_192 };

/** DuckDB reads so many rows of a row group together, a vector, and looks at an interrupt between two of them only. */
export const VECTOR_ROWS = 2_048;

/** A vector has no more bytes of one column: a row group ends before the row that would bring more. */
export const VECTOR_COLUMN_BYTES = 2 * 1024 * 1024;

/** A segment with more rows is split by zone: a merge sorts a segment in memory. */
export const MAX_SEGMENT_ROWS = 500_000;

/**
 * A segment has the events of one hour. Hours that ended long ago, and hours with few events, share a segment of this length: fewer, larger
 * segments are faster to search.
 */
export const LONG_PARTITION_MS = 12 * HOUR_MS;

import { LARGE_ZONE_ROWS, ROW_GROUP_ROWS, VECTOR_ROWS } from '../../sql/segment-layout.ts';

/** Rows from `from` to `to`, exclusive. */
export type RowRange = readonly [from: number, to: number];

/**
 * The end of the first rows of a range whose values of no column have together more than `VECTOR_COLUMN_BYTES`. It lies behind the first
 * row of the range, which is not empty.
 */
export type FittingRows = (from: number, to: number) => number;

/**
 * Splits rows of one row group into several where a vector would have too many bytes. Vectors are counted from the start of a row group
 * on, so a row group ends within its last one.
 */
export function splitByBytes([from, to]: RowRange, fitting: FittingRows): RowRange[] {
  const groups: RowRange[] = [];
  let begun = from;
  for (let at = from; at < to; ) {
    const end = Math.min(to, at + VECTOR_ROWS);
    at = fitting(at, end);
    if (at < end) {
      groups.push([begun, at]);
      begun = at;
    }
  }
  return begun < to ? [...groups, [begun, to]] : groups;
}

/** The row groups of rows that are sorted by zone. A large zone has its own, so that a search in it reads nothing of other zones. */
export function rowGroupsOf(zones: Int32Array, fitting: FittingRows): RowRange[] {
  const groups: RowRange[] = [];
  let written = 0;
  for (let from = 0, to = 0; from < zones.length; from = to) {
    for (to = from; to < zones.length && zones[to] === zones[from]; to += 1);
    if (to - from >= LARGE_ZONE_ROWS) {
      groups.push(...pieces(written, from, ROW_GROUP_ROWS.small), ...pieces(from, to, ROW_GROUP_ROWS.large));
      written = to;
    }
  }
  return [...groups, ...pieces(written, zones.length, ROW_GROUP_ROWS.small)].flatMap((group) => splitByBytes(group, fitting));
}

function pieces(from: number, to: number, maxRows: number): RowRange[] {
  return Array.from({ length: Math.ceil((to - from) / maxRows) }, (_, index) => [
    from + index * maxRows,
    Math.min(to, from + (index + 1) * maxRows),
  ]);
}

/** Zones with so many rows in a segment have row groups of their own, so that a search over one reads nothing of others. */
const OWN_GROUP = 4_096;

/** Of such a zone: many rows are searched, and share values with one another. */
const LARGE_GROUP = 32_768;

/** Of the others: every search reads whole row groups. */
const SMALL_GROUP = 8_192;

/** Rows `from` to `to` (exclusive). */
export type RowRange = readonly [from: number, to: number];

/** The row groups of rows that are sorted by zone. */
export function rowGroupsOf(zones: Int32Array): RowRange[] {
  const groups: RowRange[] = [];
  let written = 0;
  for (let from = 0, to = 0; from < zones.length; from = to) {
    for (to = from; to < zones.length && zones[to] === zones[from]; to += 1);
    if (to - from >= OWN_GROUP) {
      groups.push(...pieces(written, from, SMALL_GROUP), ...pieces(from, to, LARGE_GROUP));
      written = to;
    }
  }
  return [...groups, ...pieces(written, zones.length, SMALL_GROUP)];
}

function pieces(from: number, to: number, most: number): RowRange[] {
  return Array.from({ length: Math.ceil((to - from) / most) }, (_, index) => [
    from + index * most,
    Math.min(to, from + (index + 1) * most),
  ]);
}

/** Adds up how many events each zone has in all the parts. */
export function zoneRowsOf(parts: Iterable<readonly [zone: number, events: number]>): Map<number, number> {
  const rows = new Map<number, number>();
  for (const [zone, events] of parts) {
    rows.set(zone, (rows.get(zone) ?? 0) + events);
  }
  return rows;
}

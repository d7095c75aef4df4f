import type { Catalog } from './catalog.ts';
import type { LiveSet } from './live-set.ts';

/** An event accepted at the very edge of the retention may still be on its way, and a search may reach 60 s further back. */
const GRACE_MS = 120_000;

/** Drops the segments whose newest event is past the retention; returns how many. Their files go once nobody reads them. */
export function dropExpiredSegments(catalog: Catalog, live: LiveSet, nowMs: number, retentionMs: number): number {
  const oldest = nowMs - retentionMs - GRACE_MS;
  const expired = live.segments.filter(({ maxTimestamp }) => maxTimestamp < oldest);
  if (expired.length > 0) {
    catalog.apply({ add: [], remove: expired });
    live.exchange({ removeSegments: expired });
  }
  return expired.length;
}

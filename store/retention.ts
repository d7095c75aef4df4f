import { isReferenced } from './bundle.ts';
import type { Catalog } from './catalog.ts';
import type { LiveSet } from './live-set.ts';

/** An event accepted at the very edge of the retention may still be on its way, and a search may reach 60 s further back. */
const GRACE_MS = 120_000;

/** Drops the segments whose newest event is past the retention, and the bundles that no other segment needs; returns how many segments. Their files go once nobody reads them. */
export function dropExpiredSegments(catalog: Catalog, live: LiveSet, nowMs: number, retentionMs: number): number {
  const oldest = nowMs - retentionMs - GRACE_MS;
  const expired = live.segments.filter(({ maxTimestamp }) => maxTimestamp < oldest);
  if (expired.length > 0) {
    const kept = live.segments.filter((segment) => !expired.includes(segment));
    const removeBundles = live.bundles.filter((bundle) => !isReferenced(bundle, kept));
    catalog.apply({ add: [], remove: expired, removeBundles });
    live.exchange({ removeSegments: expired, removeBundles });
  }
  return expired.length;
}

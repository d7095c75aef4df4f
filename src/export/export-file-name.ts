import type { SearchPlan } from '../../query/search-plan.ts';

/** Such as `20251101T000000Z`: the basic format of ISO 8601, to the second. A colon is no part of a file's name everywhere. */
function basicTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** The `Content-Disposition` (RFC 6266) of an export: to be kept as a file whose name says the zone and the window. */
export function exportDisposition({ zoneId, window }: SearchPlan, extension: string): string {
  return `attachment; filename="shieldlog-zone-${zoneId}-${basicTime(window.fromMs)}-${basicTime(window.toMs)}.${extension}"`;
}

import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { ExploreResult, Histogram } from '../../query/plan/search-result.ts';
import type { ActiveZone } from '../../store/event-store.ts';
import { groupJson, SUCCEEDED, zoneRowJson } from './search-response.ts';

/** EventLogsExploreResponse as JSON text: that of a search, with the histogram, facets and selection of the plan. */
export function exploreResponseJson({ page, histogram, facets, selectedTotal }: ExploreResult, plan: ExplorePlan): string {
  const { index, size } = plan.search.page;
  const isAsked = size > 0;
  const rows = isAsked && page.kind === 'rows' ? `[${page.rows.map(zoneRowJson).join(',')}]` : 'null';
  const groups = isAsked && page.kind === 'groups' ? `[${page.groups.map(groupJson).join(',')}]` : 'null';
  const totalPages = isAsked ? Math.ceil(page.total / size) : 0;
  const pages = `"total":${page.total},"totalPages":${totalPages},"page":${index}`;
  const explored = `"histogram":${histogramJson(histogram, plan)},"facets":${JSON.stringify(facets)},"selectedTotal":${selectedTotal}`;
  return `{"rows":${rows},"groups":${groups},${pages},${explored},"errorResponse":${SUCCEEDED}}`;
}

function histogramJson(histogram: Histogram | null, { search: { window }, histogram: asked }: ExplorePlan): string {
  if (histogram === null || asked === null) return 'null';
  const { series, other } = histogram;
  return JSON.stringify({ from: window.fromMs, to: window.toMs, buckets: asked.buckets, series, other });
}

/** EventLogsZonesResponse as JSON text. */
export function activeZonesJson(zones: readonly ActiveZone[]): string {
  return JSON.stringify({ zones: zones.map(({ zoneId, events, lastMs }) => ({ shieldZoneId: zoneId, count: events, last: lastMs })) });
}

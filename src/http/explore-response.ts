import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { ExploreResult, Histogram } from '../../query/plan/search-result.ts';
import type { ActiveZone } from '../../store/event-store.ts';
import type { AnswerPart } from './answer-writer.ts';
import { pageMembers, SUCCEEDED, zoneRowJson } from './search-response.ts';

/** EventLogsExploreResponse as JSON: that of a search, with the histogram, facets and selection of the plan. */
export function* exploreResponse({ page, histogram, facets, selectedTotal }: ExploreResult, plan: ExplorePlan): Iterable<AnswerPart> {
  yield '{';
  yield* pageMembers(page, plan.search.page, zoneRowJson);
  yield `,"histogram":${histogramJson(histogram, plan)},"facets":${JSON.stringify(facets)},"selectedTotal":${selectedTotal}`;
  yield `,"errorResponse":${SUCCEEDED}}`;
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

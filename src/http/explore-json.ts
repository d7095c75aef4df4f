import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import type { ExploreResult, Facet, Histogram } from '../../query/plan/search-result.ts';
import type { ActiveRule, ActiveZone } from '../../store/event-store.ts';
import type { Hold } from './answer-memory.ts';
import type { AnswerPart, AnswerPieces } from './answer-writes.ts';
import { jsonList, pageJson, zoneRowJson } from './search-json.ts';

/** EventLogsExploreResponse as the pieces of an answer: that of a search, with the histogram, facets and selection of the plan. */
export function exploreJson(result: ExploreResult, plan: ExplorePlan, hold: Hold): AnswerPieces {
  const { page, facets } = result;
  const more = () => explored(result, plan);
  return pageJson(page, plan.search.page, { hold, writeRow: zoneRowJson, more, moreBytes: bytesOfFacets(facets ?? []) });
}

function* explored({ histogram, facets, selectedTotal, combinations }: ExploreResult, plan: ExplorePlan): Iterable<AnswerPart> {
  yield `,"histogram":${histogramJson(histogram, plan)},"facets":`;
  yield* facets === null ? ['null'] : jsonList(facets, facetJson);
  yield `,"selectedTotal":${selectedTotal},"combinations":${JSON.stringify(combinations)}`;
}

function* facetJson({ field, distinct, values }: Facet): Iterable<AnswerPart> {
  yield `{"field":${JSON.stringify(field)},"distinct":${distinct},"values":`;
  yield* jsonList(values, (value) => [JSON.stringify(value)]);
  yield '}';
}

function bytesOfFacets(facets: readonly Facet[]): number {
  return facets.reduce((sum, { values }) => sum + values.reduce((length, { value }) => length + value.length, 0), 0);
}

function histogramJson(histogram: Histogram | null, { search, histogram: asked }: ExplorePlan): string {
  if (histogram === null || asked === null) return 'null';
  const { series, other } = histogram;
  const { fromMs: from, toMs: to } = asked.window ?? search.window;
  return JSON.stringify({ from, to, buckets: asked.buckets, series, other });
}

/** EventLogsZonesResponse as JSON text. */
export function activeZonesJson(zones: readonly ActiveZone[]): string {
  return JSON.stringify({ zones: zones.map(({ zoneId, events, lastMs }) => ({ shieldZoneId: zoneId, count: events, last: lastMs })) });
}

/** EventLogsRulesResponse as the pieces of an answer. */
export async function* rulesJson(rules: readonly ActiveRule[], hold: Hold): AnswerPieces {
  const bytes = rules.reduce((sum, { ruleId, ruleName }) => sum + ruleId.length + ruleName.length, 0);
  for await (const _ of hold([{ bytes, isLast: true }])) {
    yield ['{"rules":'];
    yield jsonList(rules, ({ ruleId, ruleName, events }) => [JSON.stringify({ ruleId, ruleName, count: events })]);
    yield ['}'];
  }
}

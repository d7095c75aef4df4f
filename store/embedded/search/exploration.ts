import type { DuckDBValue } from '@duckdb/node-api';
import type { ExplorePlan, FacetRequest, HistogramRequest, Selection } from '../../../query/plan/explore-plan.ts';
import type { ExploreResult, Facet, Histogram, HistogramCounts, SearchResult } from '../../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../../query/search-limits.ts';
import { facetStatement, histogramStatement, selectionCountStatement } from '../../../sql/explore-statements.ts';
import { unmarkText } from '../../../sql/statement.ts';
import type { SearchScope } from './search-scope.ts';

/** Answers a question of the explorer from one snapshot. `findPage` finds the page of the search. */
export async function explore(
  scope: SearchScope,
  { histogram, facets, selection }: ExplorePlan,
  findPage: () => Promise<SearchResult>,
): Promise<ExploreResult> {
  const page = await findPage();
  const found: Facet[] = [];
  for (const facet of facets) {
    found.push(await findFacet(scope, facet, selection));
  }
  return {
    page,
    histogram: histogram === null ? null : await findHistogram(scope, histogram),
    facets: facets.length === 0 ? null : found,
    selectedTotal: selection === null ? null : await countSelected(scope, selection),
  };
}

async function findFacet(scope: SearchScope, request: FacetRequest, selection: Selection | null): Promise<Facet> {
  const rows = await scope.runner.run(facetStatement(scope.plan, request, selection, scope.events()));
  const values = rows.filter(([, value]) => value !== null);
  return {
    field: request.field,
    distinct: Number(rows[0]?.[0] ?? 0),
    values: values.map(([, value, count, selected]) => ({
      value: unmarkText(value as string),
      count: Number(count),
      selected: selection === null ? null : Number(selected),
    })),
  };
}

async function countSelected(scope: SearchScope, selection: Selection): Promise<number> {
  const [[selected] = []] = await scope.runner.run(selectionCountStatement(scope.plan, selection, scope.events(selection.window)));
  return Number(selected);
}

async function findHistogram(scope: SearchScope, { buckets, by }: HistogramRequest): Promise<Histogram> {
  const facet = by === null ? undefined : await findFacet(scope, { field: by, limit: MAX_HISTOGRAM_SERIES, order: 'count' }, null);
  const values = facet?.values.map(({ value }) => value) ?? [];
  const rows = await scope.runner.run(histogramStatement(scope.plan, buckets, by === null ? null : { by, values }, scope.events()));
  const byPosition = Map.groupBy(rows, ([, position]) => (position === null ? null : Number(position)));
  const countsAt = (position: number | null) => countsIn(byPosition.get(position) ?? [], buckets);
  if (by === null) {
    return { series: [{ value: null, ...countsAt(null) }], other: null };
  }
  const series = values.map((value, position) => ({ value, ...countsAt(position) }));
  return { series, other: byPosition.has(null) ? countsAt(null) : null };
}

function countsIn(rows: readonly DuckDBValue[][], buckets: number): HistogramCounts {
  const counts = new Array<number>(buckets).fill(0);
  for (const [bucket, , events] of rows) {
    counts[Number(bucket)] = Number(events);
  }
  return { total: counts.reduce((sum, events) => sum + events, 0), counts };
}

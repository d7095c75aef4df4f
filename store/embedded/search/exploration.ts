import { isDeepStrictEqual } from 'node:util';
import type { ExplorePlan, HistogramRequest } from '../../../query/plan/explore-plan.ts';
import type { ExploreResult, Histogram, HistogramCounts, SearchResult } from '../../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../../query/search-limits.ts';
import { histogramStatement } from '../../../sql/explore-statements.ts';
import type { EarlierHistogram, ExplorationCache } from './exploration-cache.ts';
import { findFacets } from './facets.ts';
import { type FieldCounts, isWhole } from './field-counts.ts';
import type { SearchScope } from './search-scope.ts';
import { type CountsByField, findValueCounts, type ValueCountLimits } from './value-counts.ts';

export interface ExploreOptions {
  /** Undefined: everything is counted anew. */
  readonly cache: ExplorationCache | undefined;
  readonly limits: ValueCountLimits;
  /** True where memory was short for a first try. */
  readonly isRetry: boolean;
}

/**
 * Answers a question of the explorer, with the page of its search, from one snapshot. What an earlier question of the same search has
 * counted is brought up to date.
 */
export async function explore(
  scope: SearchScope,
  { histogram, facets, selection }: ExplorePlan,
  page: SearchResult,
  { cache, limits, isRetry }: ExploreOptions,
): Promise<ExploreResult> {
  const fields = new Set([...facets.map(({ field }) => field), ...(histogram === null || histogram.by === null ? [] : [histogram.by])]);
  const events = page.kind === 'rows' ? page.total : scope.mostEvents;
  const known = cache?.of(scope.plan);
  const counting = { events, earlier: known?.counts ?? new Map(), limits, oneByOne: isRetry };
  const counts = await findValueCounts(scope, [...fields], counting);
  const chart = histogram === null ? null : await findHistogram(scope, histogram, counts, known?.histogram);
  cache?.keep(scope, counts, chart?.found);
  const found = await findFacets(scope, { facets, selection }, counting, counts);
  return {
    page,
    histogram: chart?.histogram ?? null,
    facets: facets.length === 0 ? null : found.facets,
    selectedTotal: found.selectedTotal,
  };
}

interface FoundHistogram {
  readonly histogram: Histogram;
  readonly found: EarlierHistogram;
}

async function findHistogram(
  scope: SearchScope,
  request: HistogramRequest,
  known: CountsByField,
  earlier: EarlierHistogram | undefined,
): Promise<FoundHistogram> {
  const { by } = request;
  const counts = by === null ? undefined : (known.get(by) as FieldCounts);
  const values = counts?.first.slice(0, MAX_HISTOGRAM_SERIES).map(({ value }) => value) ?? [];
  const series = await countSeries(scope, request, values, counts === undefined || isWhole(counts), earlier);
  const withTotals = series.map((one): HistogramCounts => ({ total: one.reduce((sum, events) => sum + events, 0), counts: one }));
  const [others, named] = [withTotals.at(-1) as HistogramCounts, withTotals.slice(0, -1)];
  const histogram: Histogram =
    by === null
      ? { series: [{ value: null, ...others }], other: null }
      : {
          series: values.map((value, index) => ({ value, ...(named[index] as HistogramCounts) })),
          other: others.total === 0 ? null : others,
        };
  return { histogram, found: { extent: scope.extent, request, values, series } };
}

/** The number of events in each bucket, for each value and, at the end, for all others. Only newer events than before are read. */
async function countSeries(
  scope: SearchScope,
  request: HistogramRequest,
  values: readonly string[],
  hasFewValues: boolean,
  earlier: EarlierHistogram | undefined,
): Promise<readonly (readonly number[])[]> {
  const { buckets, by } = request;
  const { window, endSequence, expiries } = scope.extent;
  const isSame =
    earlier !== undefined &&
    isDeepStrictEqual([earlier.request, earlier.values, earlier.extent.window], [request, values, window]) &&
    earlier.extent.expiries === expiries &&
    earlier.extent.endSequence <= endSequence;
  const events = isSame ? scope.eventsStoredSince(earlier.extent.endSequence) : scope.events();
  const series = isSame ? earlier.series.map((counts) => [...counts]) : [...values, null].map(() => new Array<number>(buckets).fill(0));
  if (events !== undefined) {
    const wanted = by === null || values.length === 0 ? null : { by, values, hasFewValues };
    for (const [bucket, position, count] of await scope.runner.run(histogramStatement(scope.plan, buckets, wanted, events))) {
      const counts = series[position === null ? values.length : Number(position)] as number[];
      counts[Number(bucket)] = (counts[Number(bucket)] ?? 0) + Number(count);
    }
  }
  return series;
}

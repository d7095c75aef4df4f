import { isDeepStrictEqual } from 'node:util';
import { isFolded } from '../../../query/event-fields.ts';
import type { HistogramRequest } from '../../../query/plan/explore-plan.ts';
import type { Histogram, HistogramCounts } from '../../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../../query/search-limits.ts';
import { histogramStatement } from '../../../sql/explore-statements.ts';
import type { EarlierHistogram } from './exploration-cache.ts';
import { countFacet } from './facets.ts';
import { type FieldCounts, foldedCounts, isWhole } from './field-counts.ts';
import type { SearchScope } from './search-scope.ts';
import type { CountsByField } from './value-counts.ts';

/** The number of events in each bucket, for each of the values and, at the end, for all others. */
export type Series = readonly (readonly number[])[];

/** Brings the earlier histogram up to date, or counts a new one. `known`: of the field whose values have series, if there is one. */
export async function findHistogram(
  scope: SearchScope,
  request: HistogramRequest,
  known: CountsByField,
  earlier: EarlierHistogram | undefined,
): Promise<EarlierHistogram> {
  const counts = request.by === null ? undefined : (known.get(request.by) as FieldCounts);
  const values = await valuesWithSeries(scope, request.by, counts);
  const series = await countSeries(scope, request, values, counts === undefined || isWhole(counts), earlier);
  return { extent: scope.extent, request, values, series };
}

async function valuesWithSeries(
  scope: SearchScope,
  by: HistogramRequest['by'],
  counts: FieldCounts | undefined,
): Promise<readonly string[]> {
  if (by !== null && counts !== undefined && isFolded(by) && !isWhole(counts)) {
    const { values } = await countFacet(scope, { field: by, limit: MAX_HISTOGRAM_SERIES, order: 'count' }, null);
    return values.map(({ value }) => value);
  }
  return seriesValues(by, counts);
}

/** The values that have a series of their own. Of a folded field all values have to be known. */
export function seriesValues(by: HistogramRequest['by'], counts: FieldCounts | undefined): readonly string[] {
  const all = counts?.first ?? [];
  const values = by !== null && isFolded(by) ? foldedCounts(all.map((one) => ({ ...one, selected: 0 }))) : all;
  return values.slice(0, MAX_HISTOGRAM_SERIES).map(({ value }) => value);
}

/** The histogram as it is answered. */
export function histogramOf({ request, values, series }: Pick<EarlierHistogram, 'request' | 'values' | 'series'>): Histogram {
  const withTotals = series.map((counts): HistogramCounts => ({ total: counts.reduce((sum, events) => sum + events, 0), counts }));
  const [others, named] = [withTotals.at(-1) as HistogramCounts, withTotals.slice(0, -1)];
  return request.by === null
    ? { series: [{ value: null, ...others }], other: null }
    : {
        series: values.map((value, index) => ({ value, ...(named[index] as HistogramCounts) })),
        other: others.total === 0 ? null : others,
      };
}

/** Series without any events yet. */
export function emptySeries(values: readonly string[], buckets: number): number[][] {
  return [...values, null].map(() => new Array<number>(buckets).fill(0));
}

/** Only newer events than before are read. */
async function countSeries(
  scope: SearchScope,
  request: HistogramRequest,
  values: readonly string[],
  hasFewValues: boolean,
  earlier: EarlierHistogram | undefined,
): Promise<Series> {
  const { buckets, by } = request;
  const { window, endSequence, expiries } = scope.extent;
  const isSame =
    earlier !== undefined &&
    isDeepStrictEqual([earlier.request, earlier.values, earlier.extent.window], [request, values, window]) &&
    earlier.extent.expiries === expiries &&
    earlier.extent.endSequence <= endSequence;
  const events = isSame ? await scope.eventsStoredSince(earlier.extent.endSequence) : scope.events();
  const series = isSame ? earlier.series.map((counts) => [...counts]) : emptySeries(values, buckets);
  if (events !== undefined) {
    const wanted = by === null || values.length === 0 ? null : { by, values, hasFewValues };
    for (const [bucket, position, count] of await scope.runner.run(histogramStatement(scope.plan, request, wanted, events))) {
      const counts = series[position === null ? values.length : Number(position)] as number[];
      counts[Number(bucket)] = (counts[Number(bucket)] ?? 0) + Number(count);
    }
  }
  return series;
}

import { isDeepStrictEqual } from 'node:util';
import type { GroupDimension } from '../../../query/event-fields.ts';
import type { ExplorePlan, FacetRequest, HistogramRequest, Selection } from '../../../query/plan/explore-plan.ts';
import type { ExploreResult, Facet, Histogram, HistogramCounts, SearchResult } from '../../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../../query/search-limits.ts';
import { differenceFacetStatement, histogramStatement, otherValuesStatement } from '../../../sql/explore-statements.ts';
import { unmarkText } from '../../../sql/statement.ts';
import type { EarlierHistogram, ExplorationCache } from './exploration-cache.ts';
import {
  areOthersSingle,
  byDifference,
  differenceOf,
  eventsOf,
  type FieldCounts,
  isWhole,
  type SelectedCount,
  type Sides,
  type ValueCount,
} from './field-counts.ts';
import type { SearchScope } from './search-scope.ts';
import { type CountsByField, countsOf, countTogether, findValueCounts, type ValueCountLimits } from './value-counts.ts';

export interface ExploreOptions {
  /** Finds the page of the search. */
  readonly findPage: () => Promise<SearchResult>;
  /** Undefined: everything is counted anew. */
  readonly cache: ExplorationCache | undefined;
  readonly limits: ValueCountLimits;
  /** True where memory was short for a first try. */
  readonly isRetry: boolean;
}

/** Answers a question of the explorer from one snapshot. What an earlier question of the same search has counted is brought up to date. */
export async function explore(
  scope: SearchScope,
  { histogram, facets, selection }: ExplorePlan,
  { findPage, cache, limits, isRetry }: ExploreOptions,
): Promise<ExploreResult> {
  const page = await findPage();
  const fields = new Set([...facets.map(({ field }) => field), ...(histogram === null || histogram.by === null ? [] : [histogram.by])]);
  const events = page.kind === 'rows' ? page.total : scope.mostEvents;
  const known = cache?.of(scope.plan);
  const counting = { events, earlier: known?.counts ?? new Map(), limits, oneByOne: isRetry };
  const counts = await findValueCounts(scope, [...fields], counting);
  const chart = histogram === null ? null : await findHistogram(scope, histogram, counts, known?.histogram);
  cache?.keep(scope, counts, chart?.found);
  const selected = selection === null ? null : await select(scope, selection, counts, limits);
  const found: Facet[] = [];
  for (const facet of facets) {
    found.push(await findFacet(scope, facet, counts.get(facet.field) as FieldCounts, selected));
  }
  return {
    page,
    histogram: chart?.histogram ?? null,
    facets: facets.length === 0 ? null : found,
    selectedTotal: selected?.total ?? null,
  };
}

/** The selection as a search of its own. */
interface Selected {
  readonly selection: Selection;
  readonly scope: SearchScope;
  readonly total: number;
  /** Of the fields of which all values are known. */
  readonly counts: CountsByField;
}

async function select(scope: SearchScope, selection: Selection, known: CountsByField, limits: ValueCountLimits): Promise<Selected> {
  const { where } = scope.plan;
  const within = scope.asking({ window: selection.window, where: { kind: 'all', of: [where, selection.where] } });
  const fields = [...known].filter(([, counts]) => isWhole(counts)).map(([field]) => field);
  return { selection, scope: within, ...(await countTogether(within, fields, limits)) };
}

async function findFacet(scope: SearchScope, request: FacetRequest, counts: FieldCounts, selected: Selected | null): Promise<Facet> {
  const { field, limit, order } = request;
  const { distinct, first } = counts;
  if (selected === null) {
    return { field, distinct, values: first.slice(0, limit).map((one) => ({ ...one, selected: null })) };
  }
  if (order === 'count') {
    return { field, distinct, values: await withSelected(first.slice(0, limit), field, selected) };
  }
  return { field, distinct, values: await firstByDifference(scope, request, counts, selected) };
}

async function withSelected(values: readonly ValueCount[], field: GroupDimension, { scope, counts }: Selected): Promise<SelectedCount[]> {
  const inSelection = counts.get(field);
  if (inSelection !== undefined) {
    const byValue = new Map(inSelection.first.map(({ value, count }) => [value, count]));
    return values.map((one) => ({ ...one, selected: byValue.get(one.value) ?? 0 }));
  }
  const numbers = await countsOf(
    scope,
    field,
    values.map(({ value }) => value),
  );
  return values.map((one, index) => ({ ...one, selected: numbers[index] as number }));
}

async function firstByDifference(
  scope: SearchScope,
  request: FacetRequest,
  counts: FieldCounts,
  selected: Selected,
): Promise<readonly SelectedCount[]> {
  const { field, limit } = request;
  const sides = { inside: selected.total, outside: eventsOf(counts) - selected.total };
  if (isWhole(counts)) {
    return byDifference(await withSelected(counts.first, field, selected), sides).slice(0, limit);
  }
  const found = areOthersSingle(counts) ? await singletonsByDifference(request, counts, selected, sides) : undefined;
  return found ?? (await countByDifference(scope, request, selected.selection));
}

/**
 * The first values of a facet by difference where those with several events are known: these and the first others in the selection, all of
 * which differ by as much. Undefined where a value that is not in the selection may be one of them.
 */
async function singletonsByDifference(
  { field, limit }: FacetRequest,
  { first }: FieldCounts,
  selected: Selected,
  sides: Sides,
): Promise<readonly SelectedCount[] | undefined> {
  const several = first.filter(({ count }) => count > 1);
  const among = several.map(({ value }) => value);
  const { scope } = selected;
  const others = await scope.runner.run(otherValuesStatement(scope.plan, field, among, limit, scope.events()));
  const singletons = others.map(([value]) => ({ value: unmarkText(value as string), count: 1, selected: 1 }));
  const values = byDifference([...(await withSelected(several, field, selected)), ...singletons], sides).slice(0, limit);
  const last = values.at(-1);
  const isCertain = last !== undefined && values.length === limit && differenceOf(last, sides) > -BigInt(sides.inside);
  return isCertain ? values : undefined;
}

/** Counts all values of the field once more, in the selection and as a whole. */
async function countByDifference(scope: SearchScope, request: FacetRequest, selection: Selection): Promise<readonly SelectedCount[]> {
  const rows = await scope.runner.run(differenceFacetStatement(scope.plan, request, selection, scope.events()));
  return rows.map(([value, count, selected]) => ({
    value: unmarkText(value as string),
    count: Number(count),
    selected: Number(selected),
  }));
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

import type { DuckDBValue } from '@duckdb/node-api';
import { type GroupDimension, isFolded } from '../../../query/event-fields.ts';
import { foldText } from '../../../query/match/match-event.ts';
import type { ExplorePlan, FacetRequest, HistogramRequest, Selection } from '../../../query/plan/explore-plan.ts';
import type { Facet } from '../../../query/plan/search-result.ts';
import { MAX_FACET_VALUES } from '../../../query/search-limits.ts';
import { exploreOnceStatement } from '../../../sql/explore-statements.ts';
import type { EarlierHistogram } from './exploration-cache.ts';
import { countFacet, foldedFacet } from './facets.ts';
import { type FieldCounts, isWhole, type SelectedCount, type Sides } from './field-counts.ts';
import { emptySeries, seriesValues } from './histogram.ts';
import type { SearchScope } from './search-scope.ts';
import { type CountsByField, listedTexts, type ValueCountLimits } from './value-counts.ts';

/** All of a question but its page, and what a later one can use of it. */
export interface FoundAtOnce {
  readonly counts: CountsByField;
  /** The histogram; undefined where none was asked for, or where it has too many values. */
  readonly histogram: EarlierHistogram | undefined;
  readonly facets: readonly Facet[];
  /** The number of events in the selection; null without one. */
  readonly selectedTotal: number | null;
}

/** What the statement found of one field, or of all events. */
interface FoundField {
  readonly distinct: number;
  readonly first: readonly SelectedCount[];
  /** The values in the order of a facet by difference; none without a selection. */
  readonly different: readonly SelectedCount[];
}

const NOTHING: FoundField = { distinct: 0, first: [], different: [] };

/**
 * Answers a question about few events by one statement, because reading them costs more than counting them. `fields`: those that have a
 * facet, at least one, and that of the histogram. Rejects with `LongValues`.
 */
export async function exploreAtOnce(
  scope: SearchScope,
  { histogram, facets, selection }: Pick<ExplorePlan, 'histogram' | 'facets' | 'selection'>,
  fields: readonly GroupDimension[],
  { urls, listBytes, valueBytes }: ValueCountLimits,
): Promise<FoundAtOnce> {
  const maxDiffering = facets.reduce((most, { limit }) => Math.max(most, limit), 1);
  const lists = { max: Math.max(urls, MAX_FACET_VALUES), maxBytes: listBytes, maxValueBytes: valueBytes };
  const wanted = { fields, ...lists, histogram, selection, maxDiffering };
  const rows = await scope.runner.run(exploreOnceStatement(scope.plan, wanted, scope.events()));
  const found = new Map(rows.map((row) => [Number(row[0]), foundField(row)]));
  const byField = new Map(fields.map((field, index) => [field, found.get(index) ?? NOTHING]));
  const counts = new Map(Array.from(byField, ([field, one]) => [field, withoutSelected(one)]));
  const [all = { count: 0, selected: 0 }] = found.get(fields.length)?.first ?? [];
  const sides = selection === null ? null : { inside: all.selected, outside: all.count - all.selected };
  const foundFacets: Facet[] = [];
  for (const request of facets) {
    foundFacets.push(await facetOf(scope, request, byField.get(request.field) ?? NOTHING, selection, sides));
  }
  return {
    counts,
    histogram: histogram === null ? undefined : histogramIn(found.get(fields.length + 1) ?? NOTHING, histogram, counts, scope),
    facets: foundFacets,
    selectedTotal: selection === null ? null : all.selected,
  };
}

async function facetOf(
  scope: SearchScope,
  request: FacetRequest,
  found: FoundField,
  selection: Selection | null,
  sides: Sides | null,
): Promise<Facet> {
  const { field, limit, order } = request;
  if (isFolded(field)) {
    return isWhole(found) ? foldedFacet(request, found.first, sides) : await countFacet(scope, request, selection);
  }
  const values = (order === 'count' ? found.first : found.different).slice(0, limit);
  return {
    field,
    distinct: found.distinct,
    values: values.map((one) => ({ ...one, selected: sides === null ? null : one.selected, spellings: 1 })),
  };
}

/** The counts of a field without those of the selection: they stay true for other selections. */
function withoutSelected({ distinct, first }: FoundField): FieldCounts {
  return { distinct, first: first.map(({ value, count }) => ({ value, count })) };
}

function foundField([, distinct, ...lists]: readonly DuckDBValue[]): FoundField {
  return { distinct: Number(distinct), first: selectedCounts(lists.slice(0, 3)), different: selectedCounts(lists.slice(3)) };
}

/** Reads the JSON texts of three lists of one length; null for empty ones. */
function selectedCounts([values, counts, selected]: readonly DuckDBValue[]): SelectedCount[] {
  if (typeof values !== 'string') {
    return [];
  }
  const numbers: readonly number[] = JSON.parse(counts as string);
  const inSelection: readonly number[] = JSON.parse(selected as string);
  const texts = listedTexts(values);
  return texts.map((value, index) => ({ value, count: numbers[index] as number, selected: inSelection[index] as number }));
}

/** The histogram whose counts are those of values such as `12 DE`, a bucket and the value of a series. */
function histogramIn(
  found: FoundField,
  request: HistogramRequest,
  counts: CountsByField,
  scope: SearchScope,
): EarlierHistogram | undefined {
  if (!isWhole(found)) {
    return undefined;
  }
  const { by } = request;
  const ofSeries = by === null ? undefined : counts.get(by);
  const nameOf = by !== null && isFolded(by) ? foldText : (value: string) => value;
  if (by !== null && isFolded(by) && ofSeries !== undefined && !isWhole(ofSeries)) {
    return undefined;
  }
  const values = seriesValues(by, ofSeries);
  const series = emptySeries(values, request.buckets);
  const places = new Map(values.map((value, index) => [nameOf(value), index]));
  for (const { value: bucketAndValue, count } of found.first) {
    const end = bucketAndValue.indexOf(' ');
    const one = series[places.get(nameOf(bucketAndValue.slice(end + 1))) ?? values.length] as number[];
    const bucket = Number(bucketAndValue.slice(0, end));
    one[bucket] = (one[bucket] ?? 0) + count;
  }
  return { extent: scope.extent, request, values, series };
}

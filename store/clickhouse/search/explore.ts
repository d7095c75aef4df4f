import { type GroupDimension, isFolded } from '../../../query/event-fields.ts';
import type { ExplorePlan, FacetOrder, HistogramRequest } from '../../../query/plan/explore-plan.ts';
import type { Predicate } from '../../../query/plan/search-plan.ts';
import type { Combination, ExploreResult, Facet, FacetValue, Histogram, HistogramCounts } from '../../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../../query/search-limits.ts';
import { facetValuesStatement, fieldMask, seriesStatement, totalsStatement } from '../../../sql/clickhouse/explore-statements.ts';
import { clickhouseDialect } from '../../../sql/dialect.ts';
import { combinationsIn, combinationsStatement } from '../../../sql/explore-statements.ts';
import { EventReader, type EventSource } from './event-reader.ts';
import { findPage } from './search.ts';

/** Answers all of the plan as of one moment. Rejects with the reason of the signal. */
export async function exploreEvents(plan: ExplorePlan, source: EventSource, signal: AbortSignal | undefined): Promise<ExploreResult> {
  using reader = (await EventReader.forSeveral(source, plan.search.zones, signal)).holding();
  const [finding, exploring] = [findPage(plan.search, reader), explore(plan, reader)];
  // Neither goes on when the answer has failed: what it reads would be counted nowhere.
  await Promise.allSettled([finding, exploring]);
  return { page: await finding, ...(await exploring) };
}

async function explore(plan: ExplorePlan, reader: EventReader): Promise<Omit<ExploreResult, 'page'>> {
  const { selection, histogram } = plan;
  const totals = await findTotals(plan, reader);
  const found = await findValues(plan, totals, reader);
  const facets = plan.facets.map(({ field, limit, order }): Facet => {
    const { distinct, first } = found.get(field) ?? NOTHING;
    const values = first[order].slice(0, limit);
    return { field, distinct, values: selection === null ? values.map((one) => ({ ...one, selected: null })) : values };
  });
  return {
    histogram: histogram === null ? null : await findHistogram(plan, histogram, totals, found, reader),
    facets: facets.length === 0 ? null : facets,
    selectedTotal: selection === null ? null : totals.selected,
    combinations: plan.combinations === undefined ? null : await findCombinations(plan, plan.combinations, reader),
  };
}

async function findCombinations(
  { search, selection }: ExplorePlan,
  conditions: readonly Predicate[],
  reader: EventReader,
): Promise<readonly Combination[]> {
  const { rows } = await reader.rows(combinationsStatement(search, conditions, selection, reader.events, clickhouseDialect));
  return combinationsIn(rows);
}

interface Totals {
  readonly total: number;
  readonly selected: number;
  /** The number of events in each bucket of a histogram with one series. */
  readonly counts: readonly number[];
}

/** Reads nothing where nothing of it is needed. */
async function findTotals({ search, selection, histogram }: ExplorePlan, reader: EventReader): Promise<Totals> {
  const ofAll = histogram !== null && histogram.by === null ? histogram : null;
  if (selection === null && ofAll === null) {
    return { total: 0, selected: 0, counts: [] };
  }
  const row = await reader.row(totalsStatement(search, selection, ofAll, reader.events));
  const [total, selected, counts = []] = row as readonly [string, string, (readonly string[])?];
  return { total: Number(total), selected: Number(selected), counts: counts.map(Number) };
}

interface FoundValues {
  readonly distinct: number;
  readonly first: Readonly<Record<FacetOrder, readonly (FacetValue & { readonly selected: number })[]>>;
}

const NOTHING: FoundValues = { distinct: 0, first: { count: [], difference: [] } };

/** The values of the fields of facets and of the one that has series. */
async function findValues(
  { search, selection, histogram, facets }: ExplorePlan,
  totals: Totals,
  reader: EventReader,
): Promise<ReadonlyMap<GroupDimension, FoundValues>> {
  const requests = facets.map(({ field, limit, order }) => ({ field, limit, order }));
  if (histogram !== null && histogram.by !== null) {
    requests.push({ field: histogram.by, limit: MAX_HISTOGRAM_SERIES, order: 'count' });
  }
  const found = new Map<GroupDimension, FoundValues>();
  // Folding groups all values once more, so fields of very many values are not among those that are folded.
  for (const some of Map.groupBy(requests, ({ field }) => isFolded(field)).values()) {
    const fields = [...new Set(some.map(({ field }) => field))];
    const inOrder = (order: FacetOrder) => {
      const ofOrder = some.filter((request) => request.order === order);
      return { fields: [...new Set(ofOrder.map(({ field }) => field))], max: Math.max(0, ...ofOrder.map(({ limit }) => limit)) };
    };
    const wanted = { fields, selection, byCount: inOrder('count'), byDifference: inOrder('difference'), totals };
    const { rows } = await reader.rows(facetValuesStatement(search, wanted, reader.events, reader.areSharded));
    const byMask = new Map(rows.map(([mask, ...row]) => [Number(mask), foundValues(row)]));
    for (const [index, field] of fields.entries()) {
      found.set(field, byMask.get(fieldMask(index, fields.length)) ?? NOTHING);
    }
  }
  return found;
}

type CountedValue = readonly [value: string, events: string, selected: string, spellings: string];

function foundValues([distinct, byCount, byDifference]: readonly unknown[]): FoundValues {
  const values = (counted: unknown) =>
    (counted as readonly CountedValue[]).map(([value, ...numbers]) => {
      const [count, selected, spellings] = numbers.map(Number) as [number, number, number];
      return { value, count, selected, spellings };
    });
  return { distinct: Number(distinct), first: { count: values(byCount), difference: values(byDifference) } };
}

async function findHistogram(
  { search }: ExplorePlan,
  histogram: HistogramRequest,
  { counts: all }: Totals,
  found: ReadonlyMap<GroupDimension, FoundValues>,
  reader: EventReader,
): Promise<Histogram> {
  const { by } = histogram;
  if (by === null) {
    return { series: [{ value: null, ...withTotal(all) }], other: null };
  }
  const values = (found.get(by) ?? NOTHING).first.count.slice(0, MAX_HISTOGRAM_SERIES).map(({ value }) => value);
  const { rows } =
    values.length === 0 ? { rows: [] } : await reader.rows(seriesStatement(search, { ...histogram, by, values }, reader.events));
  const counts = new Map(rows.map(([position, events]) => [Number(position), withTotal((events as readonly string[]).map(Number))]));
  return {
    series: values.map((value, index) => ({ value, ...(counts.get(index + 1) as HistogramCounts) })),
    other: counts.get(0) ?? null,
  };
}

function withTotal(counts: readonly number[]): HistogramCounts {
  return { total: counts.reduce((sum, events) => sum + events, 0), counts };
}

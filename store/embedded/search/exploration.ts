import type { GroupDimension } from '../../../query/event-fields.ts';
import type { ExplorePlan } from '../../../query/plan/explore-plan.ts';
import type { Predicate } from '../../../query/plan/search-plan.ts';
import type { Combination, ExploreResult } from '../../../query/plan/search-result.ts';
import { MAX_HISTOGRAM_SERIES } from '../../../query/search-limits.ts';
import { duckdbDialect } from '../../../sql/dialect.ts';
import { combinationsIn, combinationsStatement } from '../../../sql/explore-statements.ts';
import type { ExplorationCache } from './exploration-cache.ts';
import { exploreAtOnce } from './explore-at-once.ts';
import { findFacets } from './facets.ts';
import { findHistogram, histogramOf } from './histogram.ts';
import type { SearchScope } from './search-scope.ts';
import { findValueCounts, isNear, LongValues, type ValueCounting, type ValueCountLimits } from './value-counts.ts';

export interface ExploreOptions {
  /** What earlier questions have counted; undefined where everything is counted anew. */
  readonly cache: ExplorationCache | undefined;
  readonly limits: ValueCountLimits;
  /** True where memory was short for a first try: fields are then counted one by one. */
  readonly isRetry: boolean;
}

/**
 * Answers a question of the explorer except for the page of its search. What an earlier question of the same search has counted is brought
 * up to date. `events`: the most that the search can find. Where the values of a field are too long to be listed, only those of the answer
 * are read, a field at a time, and nothing is remembered.
 */
export async function explore(
  scope: SearchScope,
  plan: ExplorePlan,
  events: number,
  { cache, limits, isRetry }: ExploreOptions,
): Promise<Omit<ExploreResult, 'page'>> {
  const known = cache?.of(scope.plan);
  const counting = { events, earlier: known?.counts ?? new Map(), limits, oneByOne: isRetry };
  const fields = fieldsOf(plan);
  try {
    const atOnce = isForOneStatement(scope, plan, fields, counting) ? await exploreAtOnce(scope, plan, fields, limits) : undefined;
    const counts = atOnce?.counts ?? (await findValueCounts(scope, fields, counting));
    const chart =
      plan.histogram === null ? undefined : (atOnce?.histogram ?? (await findHistogram(scope, plan.histogram, counts, known?.histogram)));
    cache?.keep(scope, counts, chart);
    const { facets, selectedTotal } = atOnce ?? (await findFacets(scope, plan, counting, counts));
    return {
      histogram: chart === undefined ? null : histogramOf(chart),
      facets: plan.facets.length === 0 ? null : facets,
      selectedTotal,
      combinations: plan.combinations === undefined ? null : await findCombinations(scope, plan, plan.combinations),
    };
  } catch (error) {
    if (!(error instanceof LongValues)) {
      throw error;
    }
    return await explore(scope, plan, events, { cache: undefined, limits: onlyAnswered(plan, limits), isRetry: true });
  }
}

async function findCombinations(
  scope: SearchScope,
  { selection }: ExplorePlan,
  conditions: readonly Predicate[],
): Promise<readonly Combination[]> {
  return combinationsIn(await scope.runner.run(combinationsStatement(scope.plan, conditions, selection, scope.events(), duckdbDialect)));
}

const NO_LIMIT = 2 ** 40;

/** Limits by which no more values are read than the answer has, however long they are. */
function onlyAnswered({ facets, histogram }: ExplorePlan, limits: ValueCountLimits): ValueCountLimits {
  const ofSeries = (histogram?.by ?? null) === null ? 1 : MAX_HISTOGRAM_SERIES;
  const values = facets.reduce((most, { limit }) => Math.max(most, limit), ofSeries);
  return { ...limits, values, urls: values, listed: 0, listBytes: NO_LIMIT, valueBytes: NO_LIMIT };
}

/** The fields whose values are counted: those of the facets and that of the histogram, each once. */
function fieldsOf({ facets, histogram }: ExplorePlan): GroupDimension[] {
  const by = histogram?.by ?? null;
  return [...new Set([...facets.map(({ field }) => field), ...(by === null ? [] : [by])])];
}

/** Whether the events are few, memory is not short, and no earlier question has counted anything that can be brought up to date. */
function isForOneStatement(
  scope: SearchScope,
  { facets }: ExplorePlan,
  fields: readonly GroupDimension[],
  { events, earlier, limits, oneByOne }: ValueCounting,
): boolean {
  const areFew = events <= limits.together;
  const isKnown = (field: GroupDimension) => {
    const counts = earlier.get(field);
    return counts !== undefined && isNear(counts.extent, scope.extent);
  };
  return areFew && facets.length > 0 && !oneByOne && !fields.some(isKnown);
}

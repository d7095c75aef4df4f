import type { GroupDimension } from '../../../query/event-fields.ts';
import type { HistogramRequest } from '../../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { BudgetedCache } from '../../budgeted-cache.ts';
import { searchKey } from './search-key.ts';
import type { SearchExtent, SearchScope } from './search-scope.ts';
import type { CountsByField, EarlierCounts } from './value-counts.ts';

/** A histogram as an earlier question has counted it. */
export interface EarlierHistogram {
  readonly extent: SearchExtent;
  readonly request: HistogramRequest;
  /** The values that have a series of their own. */
  readonly values: readonly string[];
  /** The series of each value and, at the end, that of all others: a count for each bucket. */
  readonly series: readonly (readonly number[])[];
}

/** What the questions about a search have counted. */
interface Exploration {
  readonly counts: ReadonlyMap<GroupDimension, EarlierCounts>;
  readonly histogram: EarlierHistogram | undefined;
  /** What it takes in memory, its key included. */
  readonly sizeBytes: number;
}

export const MAX_EXPLORATION_BYTES = 32 * 1024 * 1024;
/** Measured: a value with its count, beside two bytes for each character. */
const BYTES_OF_A_VALUE = 100;
const BYTES_OF_A_BUCKET = 8;
/** An entry without values: its key, its objects and its place in the cache, rounded up. */
const BYTES_OF_AN_ENTRY = 2_048;

/**
 * Caches what questions of the explorer have counted, for the next question about the same search: another page, another selection, or the
 * same window a little later. Events only come, until they expire, so counts stay true of the events that were stored before a sequence,
 * wherever flushes and merges move them.
 */
export class ExplorationCache {
  readonly #explorations: BudgetedCache<string, Exploration>;

  constructor(maxBytes = MAX_EXPLORATION_BYTES) {
    this.#explorations = new BudgetedCache({ budget: maxBytes, sizeOf: ({ sizeBytes }) => sizeBytes });
  }

  of(plan: SearchPlan): Exploration | undefined {
    return this.#explorations.use(nameOf(plan));
  }

  /** Keeps the counts in place of earlier ones. A question that counted nothing, such as one for a page of rows alone, leaves nothing. */
  keep({ plan, extent }: Pick<SearchScope, 'plan' | 'extent'>, counted: CountsByField, chart: EarlierHistogram | undefined): void {
    if (counted.size === 0 && chart === undefined) {
      return;
    }
    const before = this.of(plan);
    const later = Array.from(counted, ([field, one]) => [field, { extent, counts: one }] as const);
    const counts = new Map([...(before?.counts ?? []), ...later]);
    const histogram = chart ?? before?.histogram;
    this.#explorations.add(nameOf(plan), { counts, histogram, sizeBytes: bytesOf(counts, histogram) });
  }
}

/** Windows of one length share their counts, because they may be the same one that moves with the clock. */
function nameOf(plan: SearchPlan): string {
  return `${searchKey(plan)} ${plan.window.toMs - plan.window.fromMs}`;
}

function bytesOf(counts: Exploration['counts'], histogram: EarlierHistogram | undefined): number {
  const buckets = histogram === undefined ? 0 : histogram.series.length * histogram.request.buckets;
  let bytes = BYTES_OF_AN_ENTRY + BYTES_OF_A_BUCKET * buckets;
  for (const value of histogram?.values ?? []) {
    bytes += BYTES_OF_A_VALUE + 2 * value.length;
  }
  for (const { counts: one } of counts.values()) {
    for (const { value } of one.first) {
      bytes += BYTES_OF_A_VALUE + 2 * value.length;
    }
  }
  return bytes;
}

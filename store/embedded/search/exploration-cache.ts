import type { GroupDimension } from '../../../query/event-fields.ts';
import type { HistogramRequest } from '../../../query/plan/explore-plan.ts';
import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { BudgetedCache } from '../runtime/budgeted-cache.ts';
import type { SearchExtent, SearchScope } from './search-scope.ts';
import { searchKey } from './segment-counts.ts';
import type { CountsByField, EarlierCounts } from './value-counts.ts';

/** The counts of a histogram before. */
export interface EarlierHistogram {
  readonly extent: SearchExtent;
  readonly request: HistogramRequest;
  /** Those that have a series. */
  readonly values: readonly string[];
  /** By bucket, for each value and, at the end, for all others. */
  readonly series: readonly (readonly number[])[];
}

/** What the questions about a search have counted. */
interface Exploration {
  readonly counts: ReadonlyMap<GroupDimension, EarlierCounts>;
  readonly histogram: EarlierHistogram | undefined;
}

const MAX_BYTES = 32 * 1024 * 1024;
/** Measured: a value with its count, beside two bytes for each character. */
const BYTES_OF_A_VALUE = 100;

/**
 * Caches what questions of the explorer have counted, for the next question about the same search: another page, another selection, or the
 * same window a little later. Events only come, until they expire, so counts stay true of the events that were stored before a sequence,
 * wherever flushes and merges move them.
 */
export class ExplorationCache {
  readonly #explorations = new BudgetedCache<string, Exploration>({ budget: MAX_BYTES, sizeOf: bytesOf });

  of(plan: SearchPlan): Exploration | undefined {
    return this.#explorations.use(nameOf(plan));
  }

  /** Keeps the counts in place of earlier ones. */
  keep(scope: SearchScope, counts: CountsByField, histogram: EarlierHistogram | undefined): void {
    const { plan, extent } = scope;
    const before = this.of(plan);
    const later = Array.from(counts, ([field, one]) => [field, { extent, counts: one }] as const);
    this.#explorations.add(nameOf(plan), {
      counts: new Map([...(before?.counts ?? []), ...later]),
      histogram: histogram ?? before?.histogram,
    });
  }
}

/** Windows of one length share their counts, because they may be the same one that moves with the clock. */
function nameOf(plan: SearchPlan): string {
  return `${searchKey(plan)} ${plan.window.toMs - plan.window.fromMs}`;
}

function bytesOf({ counts }: Exploration): number {
  const values = Array.from(counts.values(), ({ counts: { first } }) => first).flat();
  return values.reduce((sum, { value }) => sum + BYTES_OF_A_VALUE + 2 * value.length, 0);
}

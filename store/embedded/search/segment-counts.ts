import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { BudgetedCache } from '../../budgeted-cache.ts';
import { searchKey } from './search-key.ts';

/** The counts of the searches that were made last are kept, in so many bytes. */
export const MAX_COUNTS_BYTES = 16 * 1024 * 1024;
/** What a count takes, about. */
const COUNT_BYTES = 52;

/** A search counts as so many, beside its own: no more than some thousand are kept, which are soon looked through. */
const COUNTS_A_SEARCH = 400;

/** Counts of more segments than this are forgotten together: most of these segments are gone, and counting again does no harm. */
const MAX_SEGMENTS = 10_000;

/** Numbers of matching events by the id of their segment. */
export type CountBySegment = Map<number, number>;

/**
 * Remembers how many events of some zones match a predicate in each segment. A segment never changes, so the segments of a dashboard that
 * asks the same every few seconds are counted once, wherever its window has moved to, as long as they lie in it.
 */
export class SegmentCounts {
  readonly #bySearch = new BudgetedCache<string, CountBySegment>({
    budget: MAX_COUNTS_BYTES / COUNT_BYTES,
    sizeOf: ({ size }) => COUNTS_A_SEARCH + size,
  });

  /** The counts that are known already. The caller may add further ones. */
  of(plan: Pick<SearchPlan, 'zones' | 'where'>): CountBySegment {
    const key = searchKey(plan);
    const known = this.#bySearch.use(key);
    if (known !== undefined && known.size <= MAX_SEGMENTS) {
      return known;
    }
    const counts: CountBySegment = new Map();
    this.#bySearch.add(key, counts);
    return counts;
  }
}

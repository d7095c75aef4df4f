import type { SearchPlan } from '../../../query/search-plan.ts';
import { digestOf } from './predicate-digest.ts';

/** Of how many searches the counts are kept: those that were made last. */
const MAX_SEARCHES = 1_000;

/** Counts of more segments than this are forgotten together: most of these segments are gone, and counting again is no harm. */
const MAX_SEGMENTS = 10_000;

/** How many events of a segment match, by the segment's id. */
export type CountBySegment = Map<number, number>;

/**
 * Remembers how many events of a zone fulfil a predicate in each segment. A segment never changes, so a dashboard that asks the same thing
 * every few seconds has its segments counted once, wherever its window has moved to, as long as they lie in it.
 */
export class SegmentCounts {
  readonly #bySearch = new Map<string, CountBySegment>();

  /** What is known already; further counts may be added. */
  of({ zoneId, where }: Pick<SearchPlan, 'zoneId' | 'where'>): CountBySegment {
    const key = `${zoneId} ${digestOf(where)}`;
    const known = this.#bySearch.get(key);
    const counts: CountBySegment = known === undefined || known.size > MAX_SEGMENTS ? new Map() : known;
    // Behind all others, which makes it the last to be forgotten.
    this.#bySearch.delete(key);
    this.#bySearch.set(key, counts);
    for (const oldest of this.#bySearch.size > MAX_SEARCHES ? this.#bySearch.keys() : []) {
      this.#bySearch.delete(oldest);
      break;
    }
    return counts;
  }
}

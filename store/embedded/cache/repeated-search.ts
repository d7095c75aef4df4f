import type { TimeWindow } from '../../../query/search-plan.ts';
import type { GroupByCacheEntry } from './group-by-cache-entry.ts';
import { type Coverage, isInside, nameOf } from './group-coverage.ts';

/** How many coverages of a search are known to have been asked for. */
const MAX_ASKED = 8;

/** What is cached of the group searches with one zone, predicate and dimensions, whatever their window. */
export class RepeatedSearch {
  entries: readonly GroupByCacheEntry[] = [];
  /** How many the last answer had. */
  groups = 0;
  isBeingFilled = false;
  /** Those that were asked for, the last ones behind. */
  #asked: readonly string[] = [];
  #refused: string | undefined;

  /** The entry of the most segments among those that the window holds all of. */
  largestEntry(window: TimeWindow): GroupByCacheEntry | undefined {
    const inside = this.entries.filter(({ coverage }) => isInside(coverage, window));
    return inside.sort((a, b) => b.segments.size - a.segments.size || a.coverage.fromMs - b.coverage.fromMs)[0];
  }

  /** Those of a segment that has been merged or dropped: they are of no use any more. */
  entriesBeside(versions: ReadonlySet<number>): GroupByCacheEntry[] {
    return this.entries.filter(({ segments }) => !isWithin(segments, versions));
  }

  /** Whether a search that covers the same was made before, and it was not refused. */
  askAgain(coverage: Coverage): boolean {
    const name = nameOf(coverage);
    const isAgain = this.#asked.includes(name);
    this.#asked = [...this.#asked.filter((other) => other !== name), name].slice(-MAX_ASKED);
    return isAgain && this.#refused !== name;
  }

  /** Its groups are too many, found no room, or made the search fail: it is not tried again while the search covers the same. */
  refuse(coverage: Coverage): void {
    this.#refused = nameOf(coverage);
  }
}

function isWithin(some: ReadonlySet<number>, all: ReadonlySet<number>): boolean {
  return [...some].every((one) => all.has(one));
}

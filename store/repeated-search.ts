import type { GroupBase } from './group-base.ts';
import type { Segment } from './segment.ts';

/** How many sets of segments of a search are known to have been asked for. */
const MOST_ASKED = 8;

/** What is remembered of the group searches with one zone, predicate and dimensions, whatever their window. */
export class RepeatedSearch {
  bases: readonly GroupBase[] = [];
  /** How many the last answer had. */
  groups = 0;
  isBeingFilled = false;
  /** Sets of segments that were asked for, the last ones behind. */
  #asked: readonly string[] = [];
  #refused: string | undefined;

  /** The base of the most of these segments, among those of no others. */
  largestBase(segments: readonly Segment[]): GroupBase | undefined {
    const ids = new Set(segments.map(({ id }) => id));
    return this.bases.filter((base) => isWithin(base.segments, ids)).sort((a, b) => b.segments.size - a.segments.size)[0];
  }

  /** Those of a segment that has been merged or dropped: they are of no use any more. */
  basesBeside(live: ReadonlySet<number>): GroupBase[] {
    return this.bases.filter(({ segments }) => !isWithin(segments, live));
  }

  /** Whether a search of these segments was made before, and they were not refused. */
  askAgain(segments: readonly Segment[]): boolean {
    const name = nameOf(segments);
    const isAgain = this.#asked.includes(name);
    this.#asked = [...this.#asked.filter((other) => other !== name), name].slice(-MOST_ASKED);
    return isAgain && this.#refused !== name;
  }

  /** Their groups are too many, found no room, or made the search fail: it is not tried again while the search is made of the same segments. */
  refuse(segments: readonly Segment[]): void {
    this.#refused = nameOf(segments);
  }
}

function nameOf(segments: readonly Segment[]): string {
  return segments.map(({ id }) => id).join(' ');
}

function isWithin(some: ReadonlySet<number>, all: ReadonlySet<number>): boolean {
  return [...some].every((one) => all.has(one));
}

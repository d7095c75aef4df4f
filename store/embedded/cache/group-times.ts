import { bucketStart } from '../../../query/buckets.ts';
import type { TimeWindow } from '../../../query/plan/search-plan.ts';
import { TIMES_BELOW } from '../../../sql/group-statements.ts';
import type { GroupFacts } from '../search/group-facts.ts';

/** The times of a group's events, ascending, in four bytes each: milliseconds since `originMs`. */
export interface GroupTimes {
  readonly originMs: number;
  readonly offsets: Uint32Array;
}

export const BYTES_OF_A_TIME = Uint32Array.BYTES_PER_ELEMENT;

/** Collects the times of several groups in any order. */
export class TimesCollector {
  readonly #originMs: number;
  readonly #groups: { offsets: Uint32Array; length: number }[];

  /** `groups`: their number. `originMs`: Unix milliseconds, no later than any event. */
  constructor(groups: number, originMs: number) {
    this.#originMs = originMs;
    this.#groups = Array.from({ length: groups }, () => ({ offsets: new Uint32Array(16), length: 0 }));
  }

  /** `values` are those that `groupTimesStatement` selects. */
  take(values: readonly number[]): void {
    for (const value of values) {
      const index = Math.floor(value / TIMES_BELOW);
      const group = this.#groups[index] as { offsets: Uint32Array; length: number };
      if (group.length === group.offsets.length) {
        group.offsets = resized(group.offsets, 2 * group.length);
      }
      group.offsets[group.length] = value - index * TIMES_BELOW;
      group.length += 1;
    }
  }

  times(): GroupTimes[] {
    return this.#groups.map(({ offsets, length }) => ({ originMs: this.#originMs, offsets: ascending(offsets.slice(0, length)) }));
  }
}

/** Merges the times of two parts of a group's events. They must lie less than {@link TIMES_BELOW} milliseconds apart. */
export function mergeTimes(one: GroupTimes, other: GroupTimes): GroupTimes {
  const originMs = Math.min(one.originMs, other.originMs);
  const offsets = resized(one.offsets, one.offsets.length + other.offsets.length);
  offsets.set(other.offsets, one.offsets.length);
  shift(offsets.subarray(0, one.offsets.length), one.originMs - originMs);
  shift(offsets.subarray(one.offsets.length), other.originMs - originMs);
  return { originMs, offsets: ascending(offsets) };
}

/** When each sparkline bucket of a window begins, and at last when the window ends. */
export function bucketStarts({ fromMs, toMs }: TimeWindow, buckets: number): number[] {
  return Array.from({ length: buckets + 1 }, (_, bucket) => bucketStart({ from: fromMs, to: toMs, buckets }, bucket));
}

/** Adds the number of events in each bucket. `starts` are the {@link bucketStarts}; no event may lie outside of them. */
export function addToSparkline(facts: GroupFacts, { originMs, offsets }: GroupTimes, starts: readonly number[]): void {
  let counted = 0;
  for (let bucket = 0; bucket + 1 < starts.length; bucket += 1) {
    const end = firstFrom(offsets, counted, (starts[bucket + 1] as number) - originMs);
    facts.addBucket(bucket, end - counted);
    counted = end;
  }
}

/** The index of the first offset from `start` on that is not below `limit`. */
function firstFrom(offsets: Uint32Array, start: number, limit: number): number {
  let [low, high] = [start, offsets.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] as number) < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function resized(offsets: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length);
  larger.set(offsets);
  return larger;
}

function shift(offsets: Uint32Array, byMs: number): void {
  for (let index = 0; byMs !== 0 && index < offsets.length; index += 1) {
    offsets[index] = (offsets[index] as number) + byMs;
  }
}

/** Sorts the offsets where they are not sorted: segments hold their events by time, and mostly follow each other. */
function ascending(offsets: Uint32Array): Uint32Array {
  const isSorted = offsets.every((offset, index) => index === 0 || (offsets[index - 1] as number) <= offset);
  return isSorted ? offsets : offsets.sort();
}

import type { GroupFacts } from '../search/group-facts.ts';
import { BYTES_OF_A_TIME, type EventTimes } from './event-times.ts';
import type { Coverage } from './group-coverage.ts';

/** What is known of one group's events in some segments. */
export interface CachedGroup {
  readonly segments: ReadonlySet<number>;
  /** Without a sparkline. */
  readonly facts: GroupFacts;
  /** Undefined where no sparkline was asked for. */
  readonly times: EventTimes | undefined;
}

/** By measurement, a value in a map of counts and its text. */
const BYTES_OF_A_VALUE = 100;
/** A group with its five maps. */
const BYTES_OF_A_GROUP = 1_000;

/**
 * Caches one search: the counts of all groups in what is covered of some segments, together, in a table of the engine, and what else is
 * known of the groups that were on a page.
 */
export class GroupByCacheEntry {
  readonly table: string;
  readonly coverage: Coverage;
  /** The ids of those that are covered. */
  readonly segments: ReadonlySet<number>;
  readonly #tableBytes: number;
  readonly #cached = new Map<string, CachedGroup>();
  #older: ReadonlyMap<string, CachedGroup>;
  #cachedBytes = 0;
  /**
   * There was no room for the details of a page, or they could not be read in time: a page is read as if nothing were known of its groups.
   */
  isFull = false;
  readers = 1;
  isDropped = false;
  /** By the order of use. */
  usedAt = 0;

  /** `older` is an entry that this one has more segments than. It begins with a reader: who makes it. */
  constructor(table: string, tableBytes: number, coverage: Coverage, older: GroupByCacheEntry | undefined) {
    this.table = table;
    this.coverage = coverage;
    this.segments = new Set(coverage.segments.map(({ id }) => id));
    this.#tableBytes = tableBytes;
    this.#older = older === undefined ? new Map() : older.#cached;
  }

  get bytes(): number {
    return this.#tableBytes + this.#cachedBytes;
  }

  /** Maybe of fewer segments than the entry has. */
  cached(key: readonly string[]): CachedGroup | undefined {
    const name = JSON.stringify(key);
    return this.#cached.get(name) ?? this.#older.get(name);
  }

  add(keys: readonly (readonly string[])[], groups: readonly CachedGroup[]): void {
    for (const [index, key] of keys.entries()) {
      const name = JSON.stringify(key);
      const before = this.#cached.get(name);
      this.#cachedBytes += bytesOf(groups[index] as CachedGroup) - (before === undefined ? 0 : bytesOf(before));
      this.#cached.set(name, groups[index] as CachedGroup);
    }
  }

  /**
   * What the older entry knew has been taken over for the page that is asked for; the rest of it was for pages that nobody may ask for any
   * more.
   */
  dropOlder(): void {
    this.#older = new Map();
  }
}

export function bytesOf({ facts, times }: CachedGroup): number {
  return BYTES_OF_A_GROUP + facts.values * BYTES_OF_A_VALUE + (times?.offsets.length ?? 0) * BYTES_OF_A_TIME;
}

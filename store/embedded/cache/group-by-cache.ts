import type { GroupsOutput, TimeWindow } from '../../../query/plan/search-plan.ts';
import { BudgetedCache } from '../../budgeted-cache.ts';
import { MEBIBYTE, memoryShares } from '../../memory-shares.ts';
import type { FoundGroups } from '../search/group-facts.ts';
import type { GroupCache } from '../search/group-search.ts';
import { searchKey } from '../search/search-key.ts';
import type { SearchScope } from '../search/search-scope.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { findCached } from './cached-groups.ts';
import { fillGroupByCache, GroupByCacheEntry } from './group-by-cache-entry.ts';
import { type Coverage, coverageOf, coversAll, isInside, isPartOf, nameOf } from './group-coverage.ts';

export interface GroupByCacheLimits {
  /** Limit of the estimated size of all entries together. */
  readonly budgetBytes: number;
  /** A search with more groups is not cached, because it would take the room of many. */
  readonly maxGroups: number;
}

const MAX_GROUPS = 300_000;

/** `memoryLimitMb` is the setting MEMORY_LIMIT_MB, which bounds the engine. */
export function groupByCacheLimitsOf(memoryLimitMb: number): GroupByCacheLimits {
  return { budgetBytes: memoryShares(memoryLimitMb).cachedGroupsShareMb * MEBIBYTE, maxGroups: MAX_GROUPS };
}

/** So many of the last searches are remembered, to tell which one is made again. */
const MAX_SEARCHES = 1_000;
/** One search has so many entries, for windows of several lengths. */
const MAX_ENTRIES = 3;
/** An entry used within so many group searches makes no room for another: searches that take turns would each evict the next. */
const IN_USE = 100;
/** So many of the last coverages of one search are remembered. */
const MAX_ASKED = 8;

export interface GroupByCacheOptions extends GroupByCacheLimits {
  /** Tells which segments are still there. */
  readonly versions: Pick<VersionSet, 'segments'>;
  /** Drops a table that nobody reads, in time. */
  readonly dropTable: (name: string) => void;
  /** Resolves when all of these tables are gone. */
  readonly dropped: () => Promise<void>;
}

/** The group searches with one zone, predicate and dimensions, whatever their window. */
class RepeatedSearch {
  entries: readonly GroupByCacheEntry[] = [];
  /** Number of groups of the last answer. */
  groups = 0;
  isBeingFilled = false;
  /** The names of the coverages asked for last, the latest at the end. */
  #asked: readonly string[] = [];
  #refused: string | undefined;

  /** The entry of the most segments among those that lie within the window. */
  largestEntry(window: TimeWindow): GroupByCacheEntry | undefined {
    const inside = this.entries.filter(({ coverage }) => isInside(coverage, window));
    return inside.sort((a, b) => b.segments.size - a.segments.size || a.coverage.fromMs - b.coverage.fromMs)[0];
  }

  /** Notes that the coverage is asked for. Returns true where it was before, and has not been refused. */
  askAgain(coverage: Coverage): boolean {
    const name = nameOf(coverage);
    const isAgain = this.#asked.includes(name);
    this.#asked = [...this.#asked.filter((other) => other !== name), name].slice(-MAX_ASKED);
    return isAgain && this.#refused !== name;
  }

  /** Caches the coverage no more, because its groups are too many, find no room, or made a search fail. */
  refuse(coverage: Coverage): void {
    this.#refused = nameOf(coverage);
  }
}

/**
 * Caches the groups of searches that are made again. Segments never change, so the groups found in the segments within a window hold for
 * every later search, wherever its window has moved to, as long as they still lie in it. Of a segment that the window cuts, they hold for a
 * while. A search that is made once pays nothing.
 */
export class GroupByCache implements GroupCache {
  readonly #options: GroupByCacheOptions;
  readonly #searches = new BudgetedCache<string, RepeatedSearch>({
    budget: MAX_SEARCHES,
    sizeOf: () => 1,
    canEvict: ({ entries, isBeingFilled }) => entries.length === 0 && !isBeingFilled,
  });
  /** The entries by the name of their table. */
  readonly #entries: BudgetedCache<string, GroupByCacheEntry>;
  #made = 0;
  #uses = 0;

  constructor(options: GroupByCacheOptions) {
    this.#options = options;
    this.#entries = new BudgetedCache({
      budget: options.budgetBytes,
      sizeOf: ({ bytes }) => bytes,
      canEvict: ({ references, usedAt }) => references.users === 1 && usedAt < this.#uses - IN_USE,
      onEvicted: (entry) => this.#forget(entry),
    });
  }

  async find(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups | undefined> {
    using entry = await this.hold(scope, output);
    try {
      return entry && (await findCached(scope, output, entry, (bytes) => this.#entries.makeRoom(bytes)));
    } catch (error) {
      // Counting more than the answer needs may be what took too long or too much memory, so the next search is made without the cache.
      this.#searchOf(scope, output).refuse(coverageOf(scope));
      throw error;
    }
  }

  /**
   * The groups of as many segments as are cached, for the caller to add to and to dispose. Undefined where none are, or where less than
   * half of the search's flushed events can be covered.
   */
  async hold(scope: SearchScope, output: GroupsOutput): Promise<GroupByCacheEntry | undefined> {
    const coverage = coverageOf(scope);
    // With less than half of the flushed events covered, most of them would be read beside the entry anyway.
    if (coverage.segments.length === 0 || 2 * scope.rowsIn(coverage.segments) < scope.flushedRows) {
      return undefined;
    }
    this.#uses += 1;
    const search = this.#searchOf(scope, output);
    this.#evictGone(search.entries);
    using best = this.#acquire(search.largestEntry(scope.plan.window));
    const isWhole = best !== undefined && coversAll(best.coverage, coverage);
    const isWanted = !isWhole && search.askAgain(coverage) && !search.isBeingFilled && search.groups <= this.#options.maxGroups;
    const made = isWanted ? await this.#make(search, scope, output, coverage, best) : undefined;
    return made ?? this.#acquire(best);
  }

  /** Has to be called for every answer, cached or not: a search with too many groups is not worth caching. */
  answered(scope: SearchScope, output: GroupsOutput, groups: number): void {
    this.#searchOf(scope, output).groups = groups;
  }

  async evictAll(): Promise<void> {
    this.#entries.evictAll();
    await this.#options.dropped();
  }

  #searchOf({ plan }: SearchScope, { by, buckets }: GroupsOutput): RepeatedSearch {
    const key = `${searchKey(plan)} ${by} ${buckets > 0}`;
    const known = this.#searches.use(key);
    if (known !== undefined) {
      return known;
    }
    const search = new RepeatedSearch();
    this.#searches.add(key, search);
    return search;
  }

  /**
   * Makes an entry of the whole coverage, and acquires it. Undefined where there are too many groups, there is no room for them, or a
   * segment was removed while they were counted; the coverage is then cached no more.
   */
  async #make(
    search: RepeatedSearch,
    scope: SearchScope,
    output: GroupsOutput,
    coverage: Coverage,
    best: GroupByCacheEntry | undefined,
  ): Promise<GroupByCacheEntry | undefined> {
    const { maxGroups, dropTable } = this.#options;
    this.#evictGone(this.#entries.values);
    this.#made += 1;
    const table = `groups_${this.#made}`;
    const older = best !== undefined && isPartOf(best.coverage, coverage) ? best : undefined;
    let made: GroupByCacheEntry | undefined;
    search.isBeingFilled = true;
    try {
      const { groups, bytes } = await fillGroupByCache(scope, output, table, coverage, older, maxGroups);
      const live = this.#liveSegments();
      if (groups <= maxGroups && coverage.segments.every(({ id }) => live.has(id))) {
        made = this.#add(search, new GroupByCacheEntry(table, bytes, coverage, older, () => dropTable(table)));
      }
      return made;
    } finally {
      search.isBeingFilled = false;
      if (made === undefined) {
        search.refuse(coverage);
        dropTable(table);
      }
    }
  }

  /**
   * Adds an entry to the search, in place of the one used longest ago where it has many, and acquires it. Returns undefined where there is
   * no room.
   */
  #add(search: RepeatedSearch, entry: GroupByCacheEntry): GroupByCacheEntry | undefined {
    if (!this.#entries.add(entry.table, entry)) {
      return undefined;
    }
    search.entries = [...search.entries, entry];
    this.#acquire(entry);
    const byUse = search.entries.toSorted((a, b) => a.usedAt - b.usedAt);
    for (const { table } of byUse.slice(0, Math.max(0, byUse.length - MAX_ENTRIES))) {
      this.#entries.evict(table);
    }
    return entry;
  }

  #acquire<E extends GroupByCacheEntry | undefined>(entry: E): E {
    if (entry !== undefined) {
      entry.references.acquire();
      entry.usedAt = this.#uses;
      this.#entries.use(entry.table);
    }
    return entry;
  }

  /** Evicts the entries of segments that were merged or have expired. */
  #evictGone(entries: readonly GroupByCacheEntry[]): void {
    const live = this.#liveSegments();
    for (const { table, segments } of entries) {
      if (![...segments].every((id) => live.has(id))) {
        this.#entries.evict(table);
      }
    }
  }

  #liveSegments(): ReadonlySet<number> {
    return new Set(this.#options.versions.segments.map(({ id }) => id));
  }

  #forget(entry: GroupByCacheEntry): void {
    for (const search of this.#searches.values) {
      search.entries = search.entries.filter((other) => other !== entry);
    }
    entry.references.release();
  }
}

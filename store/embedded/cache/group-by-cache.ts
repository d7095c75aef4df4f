import type { GroupsOutput } from '../../../query/search-plan.ts';
import { isOutOfMemory } from '../duckdb/duckdb-engine.ts';
import type { FoundGroups } from '../search/found-groups.ts';
import type { GroupCache } from '../search/group-search.ts';
import { digestOf } from '../search/predicate-digest.ts';
import type { SearchScope } from '../search/search-scope.ts';
import { findCached } from './cached-groups.ts';
import { fillGroupByCache } from './fill-group-by-cache.ts';
import { GroupByCacheEntry } from './group-by-cache-entry.ts';
import type { GroupByCacheLimits } from './group-by-cache-limits.ts';
import { type Coverage, coverageOf, coversAll, isPartOf } from './group-coverage.ts';
import { RepeatedSearch } from './repeated-search.ts';

/** Of how many searches it is known that they were made: those that were made last. */
const MAX_SEARCHES = 1_000;
/** Of one search, for windows of several lengths. */
const MAX_ENTRIES = 3;
/** Who was used within so many group searches does not make room for another: searches that take turns would each throw out the next. */
const IN_USE = 100;

export interface GroupByCacheOptions extends GroupByCacheLimits {
  /** Frees a table that nobody reads, in time. */
  readonly dropTable: (name: string) => void;
  /** Resolves when all of them are gone. */
  readonly dropped: () => Promise<void>;
}

/**
 * Caches the groups of searches that are made again. Segments never change, so what a group search found in those that lie in its window
 * holds for every later one, wherever the window has moved to, as long as they still lie in it; of those that it cuts, for a while. A
 * search that is made once pays nothing.
 */
export class GroupByCache implements GroupCache {
  readonly #options: GroupByCacheOptions;
  /** The one that was made last is the last. */
  readonly #searches = new Map<string, RepeatedSearch>();
  #made = 0;
  #uses = 0;

  constructor(options: GroupByCacheOptions) {
    this.#options = options;
  }

  find(scope: SearchScope, output: GroupsOutput): Promise<FoundGroups | undefined> {
    return this.use(scope, output, (entry) => findCached(scope, output, entry, (bytes) => this.makeRoom(bytes)));
  }

  /** Works with the groups of as many segments as are cached; undefined where none are. `work` may add to the entry. */
  async use<T>(scope: SearchScope, output: GroupsOutput, work: (entry: GroupByCacheEntry) => Promise<T>): Promise<T | undefined> {
    const coverage = coverageOf(scope);
    if (coverage.segments.length === 0 || 2 * scope.rowsIn(coverage.segments) < scope.flushedRows) {
      return undefined;
    }
    this.#uses += 1;
    const search = this.#searchOf(scope, output);
    this.#evictGone(search, scope.currentSegments);
    const best = this.#acquire(search.largestEntry(scope.plan.window));
    try {
      const isWhole = best !== undefined && coversAll(best.coverage, coverage);
      const entry = isWhole ? this.#acquire(best) : ((await this.#extend(search, scope, output, coverage, best)) ?? this.#acquire(best));
      try {
        return entry === undefined ? undefined : await work(entry);
      } finally {
        this.#release(entry);
      }
    } catch (error) {
      // Finding out more than the answer needs may be what took too long, or too much memory: the next search is made as if nothing were
      // cached.
      search.refuse(coverage);
      throw error;
    } finally {
      this.#release(best);
    }
  }

  /** Has to be called for every answer, cached or not: a search with too many groups is not worth caching. */
  answered(scope: SearchScope, output: GroupsOutput, groups: number): void {
    this.#searchOf(scope, output).groups = groups;
  }

  /** Whether there is room for so many bytes more, after what was not used for long has been dropped. */
  makeRoom(bytes: number): boolean {
    const entries = [...this.#searches.values()].flatMap((search) => search.entries.map((entry) => ({ search, entry })));
    let free = this.#options.budgetBytes - entries.reduce((sum, { entry }) => sum + entry.bytes, 0);
    const idle = entries.filter(({ entry }) => entry.readers === 0 && entry.usedAt < this.#uses - IN_USE);
    for (const { search, entry } of idle.sort((a, b) => a.entry.usedAt - b.entry.usedAt)) {
      if (free >= bytes) {
        break;
      }
      free += entry.bytes;
      this.#drop(search, entry);
    }
    return free >= bytes;
  }

  /** Does the work; where the engine's memory is not enough for it, all entries are evicted and it is done again. */
  async retryAfterEviction<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfMemory(error) || !this.#evictAll()) {
        throw error;
      }
      await this.#options.dropped();
      return await work();
    }
  }

  /** Forgets everything; whether there was anything. */
  #evictAll(): boolean {
    const all = [...this.#searches.values()].flatMap((search) => search.entries.map((entry) => ({ search, entry })));
    for (const { search, entry } of all) {
      this.#drop(search, entry);
    }
    return all.length > 0;
  }

  #searchOf({ plan }: SearchScope, { by, buckets }: GroupsOutput): RepeatedSearch {
    const key = `${plan.zoneId} ${digestOf(plan.where)} ${by} ${buckets > 0}`;
    const search = this.#searches.get(key) ?? new RepeatedSearch();
    this.#searches.delete(key);
    this.#searches.set(key, search);
    for (const [oldest, { entries, isBeingFilled }] of this.#searches.size > MAX_SEARCHES ? this.#searches : []) {
      if (entries.length === 0 && !isBeingFilled) {
        this.#searches.delete(oldest);
        break;
      }
    }
    return search;
  }

  /** Makes an entry of the whole coverage when it is asked for again, and acquires it; undefined where it is not worth it. */
  async #extend(
    search: RepeatedSearch,
    scope: SearchScope,
    output: GroupsOutput,
    coverage: Coverage,
    best: GroupByCacheEntry | undefined,
  ): Promise<GroupByCacheEntry | undefined> {
    if (!search.askAgain(coverage) || search.isBeingFilled || search.groups > this.#options.maxGroups) {
      return undefined;
    }
    search.isBeingFilled = true;
    try {
      const entry = await this.#make(scope, output, coverage, best);
      if (entry === undefined) {
        search.refuse(coverage);
        return undefined;
      }
      search.entries = [...search.entries, entry];
      for (const oldest of search.entries
        .toSorted((a, b) => a.usedAt - b.usedAt)
        .slice(0, Math.max(0, search.entries.length - MAX_ENTRIES))) {
        this.#drop(search, oldest);
      }
      return entry;
    } finally {
      search.isBeingFilled = false;
    }
  }

  async #make(
    scope: SearchScope,
    output: GroupsOutput,
    coverage: Coverage,
    best?: GroupByCacheEntry,
  ): Promise<GroupByCacheEntry | undefined> {
    const { maxGroups, dropTable } = this.#options;
    const versions = scope.currentSegments;
    for (const search of this.#searches.values()) {
      this.#evictGone(search, versions);
    }
    this.#made += 1;
    const table = `groups_${this.#made}`;
    const from = best !== undefined && isPartOf(best.coverage, coverage) ? best : undefined;
    let entry: GroupByCacheEntry | undefined;
    try {
      const { groups, bytes } = await fillGroupByCache(scope, output, table, coverage, from, maxGroups);
      if (groups <= maxGroups && this.makeRoom(bytes)) {
        entry = new GroupByCacheEntry(table, bytes, coverage, from);
        entry.usedAt = this.#uses;
      }
      return entry;
    } catch (error) {
      if (!isOutOfMemory(error)) {
        throw error;
      }
      this.#evictAll();
      return undefined;
    } finally {
      if (entry === undefined) {
        dropTable(table);
      }
    }
  }

  #acquire<B extends GroupByCacheEntry | undefined>(entry: B): B {
    if (entry !== undefined) {
      entry.readers += 1;
      entry.usedAt = this.#uses;
    }
    return entry;
  }

  #release(entry: GroupByCacheEntry | undefined): void {
    if (entry !== undefined) {
      entry.readers -= 1;
      this.#freeIfDropped(entry);
    }
  }

  #evictGone(search: RepeatedSearch, versions: ReadonlySet<number>): void {
    for (const entry of search.entriesBeside(versions)) {
      this.#drop(search, entry);
    }
  }

  #drop(search: RepeatedSearch, entry: GroupByCacheEntry): void {
    search.entries = search.entries.filter((other) => other !== entry);
    entry.isDropped = true;
    this.#freeIfDropped(entry);
  }

  #freeIfDropped({ isDropped, readers, table }: GroupByCacheEntry): void {
    if (isDropped && readers === 0) {
      this.#options.dropTable(table);
    }
  }
}

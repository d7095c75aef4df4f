import type { GroupsOutput } from '../query/search-plan.ts';
import { isOutOfMemory } from './duckdb-engine.ts';
import { GroupBase } from './group-base.ts';
import { type Coverage, coverageOf, coversAll, isPartOf } from './group-coverage.ts';
import type { GroupLimits } from './group-limits.ts';
import { keepGroups } from './keep-groups.ts';
import { digestOf } from './predicate-digest.ts';
import { RepeatedSearch } from './repeated-search.ts';
import type { SearchScope } from './search-scope.ts';

/** Of how many searches it is known that they were made: those that were made last. */
const MOST_SEARCHES = 1_000;
/** Of one search, for windows of several lengths. */
const MOST_BASES = 3;
/** Who was used within so many group searches does not make room for another: searches that take turns would each throw out the next. */
const IN_USE = 100;

export interface GroupMemoryOptions extends GroupLimits {
  /** Frees a table that nobody reads, in time. */
  readonly dropTable: (name: string) => void;
  /** Resolves when all of them are gone. */
  readonly dropped: () => Promise<void>;
}

/**
 * Remembers the groups of searches that are made again. Segments never change, so what a group search found in those that lie in its window holds for
 * every later one, wherever the window has moved to, as long as they still lie in it; of those that it cuts, for a while. A search that is made once pays nothing.
 */
export class GroupMemory {
  readonly #options: GroupMemoryOptions;
  /** The one that was made last is the last. */
  readonly #searches = new Map<string, RepeatedSearch>();
  #made = 0;
  #uses = 0;

  constructor(options: GroupMemoryOptions) {
    this.#options = options;
  }

  /** Works with the groups of as many segments as are remembered; undefined where none are. What is known of them may be added to. */
  async use<T>(scope: SearchScope, output: GroupsOutput, work: (base: GroupBase) => Promise<T>): Promise<T | undefined> {
    const coverage = coverageOf(scope);
    if (coverage.segments.length === 0 || 2 * scope.rowsIn(coverage.segments) < scope.flushedRows) {
      return undefined;
    }
    this.#uses += 1;
    const search = this.#searchOf(scope, output);
    this.#dropGone(search, scope.liveSegments);
    const best = this.#acquire(search.largestBase(scope.plan.window));
    try {
      const isWhole = best !== undefined && coversAll(best.coverage, coverage);
      const base = isWhole ? this.#acquire(best) : ((await this.#extend(search, scope, output, coverage, best)) ?? this.#acquire(best));
      try {
        return base === undefined ? undefined : await work(base);
      } finally {
        this.#release(base);
      }
    } catch (error) {
      // Finding out more than the answer needs may be what took too long, or too much memory: the next one is found as if nothing were remembered.
      search.refuse(coverage);
      throw error;
    } finally {
      this.#release(best);
    }
  }

  /** To be told of every answer, remembered or not: one with too many groups is not worth trying. */
  answered(scope: SearchScope, output: GroupsOutput, groups: number): void {
    this.#searchOf(scope, output).groups = groups;
  }

  /** Whether there is room for so many bytes more, after what was not used for long has been dropped. */
  makeRoom(bytes: number): boolean {
    const bases = [...this.#searches.values()].flatMap((search) => search.bases.map((base) => ({ search, base })));
    let free = this.#options.budgetBytes - bases.reduce((sum, { base }) => sum + base.bytes, 0);
    const idle = bases.filter(({ base }) => base.readers === 0 && base.usedAt < this.#uses - IN_USE);
    for (const { search, base } of idle.sort((a, b) => a.base.usedAt - b.base.usedAt)) {
      if (free >= bytes) {
        break;
      }
      free += base.bytes;
      this.#drop(search, base);
    }
    return free >= bytes;
  }

  /** Does the work; where the engine's memory is not enough for it, everything is forgotten and it is done again. */
  async makingWay<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfMemory(error) || !this.#clear()) {
        throw error;
      }
      await this.#options.dropped();
      return await work();
    }
  }

  /** Forgets everything; whether there was anything. */
  #clear(): boolean {
    const all = [...this.#searches.values()].flatMap((search) => search.bases.map((base) => ({ search, base })));
    for (const { search, base } of all) {
      this.#drop(search, base);
    }
    return all.length > 0;
  }

  #searchOf({ plan }: SearchScope, { by, buckets }: GroupsOutput): RepeatedSearch {
    const key = `${plan.zoneId} ${digestOf(plan.where)} ${by} ${buckets > 0}`;
    const search = this.#searches.get(key) ?? new RepeatedSearch();
    this.#searches.delete(key);
    this.#searches.set(key, search);
    for (const [oldest, { bases, isBeingFilled }] of this.#searches.size > MOST_SEARCHES ? this.#searches : []) {
      if (bases.length === 0 && !isBeingFilled) {
        this.#searches.delete(oldest);
        break;
      }
    }
    return search;
  }

  /** Makes a base of the whole coverage when it is asked for again, and acquires it; undefined where it is not worth it. */
  async #extend(
    search: RepeatedSearch,
    scope: SearchScope,
    output: GroupsOutput,
    coverage: Coverage,
    best: GroupBase | undefined,
  ): Promise<GroupBase | undefined> {
    if (!search.askAgain(coverage) || search.isBeingFilled || search.groups > this.#options.mostGroups) {
      return undefined;
    }
    search.isBeingFilled = true;
    try {
      const base = await this.#make(scope, output, coverage, best);
      if (base === undefined) {
        search.refuse(coverage);
        return undefined;
      }
      search.bases = [...search.bases, base];
      for (const oldest of search.bases.toSorted((a, b) => a.usedAt - b.usedAt).slice(0, Math.max(0, search.bases.length - MOST_BASES))) {
        this.#drop(search, oldest);
      }
      return base;
    } finally {
      search.isBeingFilled = false;
    }
  }

  async #make(scope: SearchScope, output: GroupsOutput, coverage: Coverage, best?: GroupBase): Promise<GroupBase | undefined> {
    const { mostGroups, dropTable } = this.#options;
    const live = scope.liveSegments;
    for (const search of this.#searches.values()) {
      this.#dropGone(search, live);
    }
    this.#made += 1;
    const table = `groups_${this.#made}`;
    const from = best !== undefined && isPartOf(best.coverage, coverage) ? best : undefined;
    let base: GroupBase | undefined;
    try {
      const { groups, bytes } = await keepGroups(scope, output, table, coverage, from, mostGroups);
      if (groups <= mostGroups && this.makeRoom(bytes)) {
        base = new GroupBase(table, bytes, coverage, from);
        base.usedAt = this.#uses;
      }
      return base;
    } catch (error) {
      if (!isOutOfMemory(error)) {
        throw error;
      }
      this.#clear();
      return undefined;
    } finally {
      if (base === undefined) {
        dropTable(table);
      }
    }
  }

  #acquire<B extends GroupBase | undefined>(base: B): B {
    if (base !== undefined) {
      base.readers += 1;
      base.usedAt = this.#uses;
    }
    return base;
  }

  #release(base: GroupBase | undefined): void {
    if (base !== undefined) {
      base.readers -= 1;
      this.#freeIfDropped(base);
    }
  }

  #dropGone(search: RepeatedSearch, live: ReadonlySet<number>): void {
    for (const base of search.basesBeside(live)) {
      this.#drop(search, base);
    }
  }

  #drop(search: RepeatedSearch, base: GroupBase): void {
    search.bases = search.bases.filter((other) => other !== base);
    base.isDropped = true;
    this.#freeIfDropped(base);
  }

  #freeIfDropped({ isDropped, readers, table }: GroupBase): void {
    if (isDropped && readers === 0) {
      this.#options.dropTable(table);
    }
  }
}

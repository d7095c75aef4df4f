import type { GroupsOutput } from '../query/search-plan.ts';
import { keepCountsStatement, keptSizeStatement } from '../sql/group-memory-statements.ts';
import { isOutOfMemory } from './duckdb-engine.ts';
import { GroupBase } from './group-base.ts';
import type { GroupLimits } from './group-limits.ts';
import { digestOf } from './predicate-digest.ts';
import type { SearchScope } from './search-scope.ts';
import { liesWithin, type Segment } from './segment.ts';

/** Of how many searches it is known that they were made: those that were made last. */
const MOST_SEARCHES = 1_000;
/** Of one search, for windows of several lengths. */
const MOST_BASES = 3;
/** How many sets of segments of a search are known to have been asked for. */
const MOST_ASKED = 8;
/** Who was used within so many group searches does not make room for another: searches that take turns would each throw out the next. */
const IN_USE = 100;

/** A table of groups takes this much for a row and its count, and for each key beside the text. */
const BYTES_OF_A_ROW = 8;
const BYTES_OF_A_KEY = 16;

export interface GroupMemoryOptions extends GroupLimits {
  /** Frees a table that nobody reads, in time. */
  readonly dropTable: (name: string) => void;
  /** Resolves when all of them are gone. */
  readonly dropped: () => Promise<void>;
}

/** A zone, a predicate, dimensions, and whether there are sparklines. */
interface Search {
  bases: readonly GroupBase[];
  /** The segments that were asked for, the last ones behind. */
  asked: readonly string[];
  /** Segments whose groups are too many, or found no room. */
  refused: string | undefined;
  /** In the last answer. */
  groups: number;
  isBeingFilled: boolean;
}

/**
 * Remembers the groups of searches that are made again. Segments never change, so what a group search found in those that lie wholly in its window holds for
 * every later one, wherever the window has moved to, as long as they still lie in it. A search that is made once pays nothing.
 */
export class GroupMemory {
  readonly #options: GroupMemoryOptions;
  readonly #searches = new Map<string, Search>();
  #made = 0;
  #uses = 0;

  constructor(options: GroupMemoryOptions) {
    this.#options = options;
  }

  /** Works with the groups of as many segments as are remembered; undefined where none are. What is known of them may be added to. */
  async use<T>(scope: SearchScope, output: GroupsOutput, work: (base: GroupBase) => Promise<T>): Promise<T | undefined> {
    const inside = scope.segments.filter((segment) => liesWithin(segment, scope.plan.window));
    if (2 * scope.rowsIn(inside) < scope.sealedRows || inside.length === 0) {
      return undefined;
    }
    this.#uses += 1;
    const search = this.#searchOf(scope, output);
    this.#dropGone(search, scope.liveSegments);
    const best = this.#hold(largestOf(search.bases, inside));
    try {
      const base =
        best?.segments.size === inside.length
          ? this.#hold(best)
          : ((await this.#extend(search, scope, output, inside, best)) ?? this.#hold(best));
      try {
        return base === undefined ? undefined : await work(base);
      } finally {
        this.#release(base);
      }
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
    const had = [...this.#searches.values()].some(({ bases }) => bases.length > 0);
    for (const search of this.#searches.values()) {
      for (const base of search.bases) {
        this.#drop(search, base);
      }
    }
    this.#searches.clear();
    return had;
  }

  #searchOf({ plan }: SearchScope, { by, buckets }: GroupsOutput): Search {
    const key = `${plan.zoneId} ${digestOf(plan.where)} ${by} ${buckets > 0}`;
    const search = this.#searches.get(key) ?? { bases: [], asked: [], refused: undefined, groups: 0, isBeingFilled: false };
    // Behind all others, which makes it the last to be forgotten.
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

  /** Makes a base of all the segments when they are asked for again; undefined where it is not worth it. */
  async #extend(search: Search, scope: SearchScope, output: GroupsOutput, inside: readonly Segment[], from: GroupBase | undefined) {
    const name = inside.map(({ id }) => id).join(' ');
    const isAgain = search.asked.includes(name);
    search.asked = [...search.asked.filter((other) => other !== name), name].slice(-MOST_ASKED);
    if (!isAgain || search.isBeingFilled || search.refused === name || search.groups > this.#options.mostGroups) {
      return undefined;
    }
    search.isBeingFilled = true;
    try {
      const base = await this.#make(scope, output, inside, from);
      if (base === undefined) {
        search.refused = name;
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

  async #make(
    scope: SearchScope,
    output: GroupsOutput,
    inside: readonly Segment[],
    from: GroupBase | undefined,
  ): Promise<GroupBase | undefined> {
    const { mostGroups, dropTable } = this.#options;
    for (const search of this.#searches.values()) {
      this.#dropGone(search, scope.liveSegments);
    }
    this.#made += 1;
    const table = `groups_${this.#made}`;
    const unread = inside.filter(({ id }) => from?.segments.has(id) !== true);
    try {
      await scope.run(
        keepCountsStatement(scope.plan, output, table, { table: from?.table, events: scope.sealedEvents(unread) }, mostGroups),
      );
      const [[groups, texts] = []] = await scope.run(keptSizeStatement(output, table));
      const bytes = Number(groups) * (BYTES_OF_A_ROW + output.by.length * BYTES_OF_A_KEY) + Number(texts);
      if (Number(groups) <= mostGroups && this.makeRoom(bytes)) {
        const base = new GroupBase(table, bytes, new Set(inside.map(({ id }) => id)), from);
        base.usedAt = this.#uses;
        return base;
      }
    } catch (error) {
      dropTable(table);
      if (!isOutOfMemory(error)) {
        throw error;
      }
      this.#clear();
      return undefined;
    }
    dropTable(table);
    return undefined;
  }

  #hold<B extends GroupBase | undefined>(base: B): B {
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

  /** What was found in a segment that has been merged or dropped is of no use any more. */
  #dropGone(search: Search, live: ReadonlySet<number>): void {
    for (const base of search.bases.filter(({ segments }) => !isWithin(segments, live))) {
      this.#drop(search, base);
    }
  }

  #drop(search: Search, base: GroupBase): void {
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

/** The base of the most of these segments, among those of no others. */
function largestOf(bases: readonly GroupBase[], inside: readonly Segment[]): GroupBase | undefined {
  const ids = new Set(inside.map(({ id }) => id));
  return bases.filter(({ segments }) => isWithin(segments, ids)).sort((a, b) => b.segments.size - a.segments.size)[0];
}

function isWithin(some: ReadonlySet<number>, all: ReadonlySet<number>): boolean {
  return [...some].every((one) => all.has(one));
}

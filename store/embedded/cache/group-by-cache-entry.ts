import type { GroupsOutput } from '../../../query/plan/search-plan.ts';
import { fillGroupByCacheStatement, groupByCacheSizeStatement } from '../../../sql/group-statements.ts';
import { RefCounted } from '../runtime/ref-counted.ts';
import type { GroupFacts } from '../search/group-facts.ts';
import type { SearchScope } from '../search/search-scope.ts';
import type { Coverage } from './group-coverage.ts';
import { BYTES_OF_A_TIME, type GroupTimes } from './group-times.ts';

/** The facts of one group's events in some segments. */
export interface CachedGroup {
  readonly segments: ReadonlySet<number>;
  /** The facts without a sparkline, whose buckets depend on the window. */
  readonly facts: GroupFacts;
  /** The times of its events, of which sparklines are made; undefined where no sparkline was asked for. */
  readonly times: GroupTimes | undefined;
}

/** Measured: a value in a map of counts, beside two bytes for each character. */
const BYTES_OF_A_VALUE = 100;
/** Measured: a group with its five maps. */
const BYTES_OF_A_GROUP = 1_000;

/** A table of groups takes this much for a row and its count, and for each key beside the text. */
const BYTES_OF_A_ROW = 8;
const BYTES_OF_A_KEY = 16;

/**
 * Caches one search: a table of the engine with the counts of all groups in what is covered of some segments, and the facts of the groups
 * that were on a page.
 */
export class GroupByCacheEntry implements Disposable {
  readonly table: string;
  readonly coverage: Coverage;
  /** The ids of the covered segments. */
  readonly segments: ReadonlySet<number>;
  /** The cache is the owner, each search that reads the entry a user. */
  readonly references: RefCounted;
  readonly #tableBytes: number;
  readonly #cached = new Map<string, CachedGroup>();
  #older: ReadonlyMap<string, CachedGroup>;
  #cachedBytes = 0;
  /** True where the facts of a page found no room, or could not be read: pages are then read as if no facts were cached. */
  isFull = false;
  /** Number of the group search that used it last. */
  usedAt = 0;

  /** `older` is an entry of fewer segments. `free` is called when the last user of the entry has gone. */
  constructor(table: string, tableBytes: number, coverage: Coverage, older: GroupByCacheEntry | undefined, free: () => void) {
    this.table = table;
    this.coverage = coverage;
    this.segments = new Set(coverage.segments.map(({ id }) => id));
    this.references = new RefCounted(free);
    this.#tableBytes = tableBytes;
    this.#older = older === undefined ? new Map() : older.#cached;
  }

  get bytes(): number {
    return this.#tableBytes + this.#cachedBytes;
  }

  /** Has to be called by each search that has acquired the entry, when it has read it. */
  [Symbol.dispose](): void {
    this.references.release();
  }

  /** The facts of a group, maybe of fewer segments than the entry has. */
  cached(key: readonly string[]): CachedGroup | undefined {
    const name = JSON.stringify(key);
    return this.#cached.get(name) ?? this.#older.get(name);
  }

  add(keys: readonly (readonly string[])[], groups: readonly CachedGroup[]): void {
    for (const [index, key] of keys.entries()) {
      const name = JSON.stringify(key);
      const group = groups[index] as CachedGroup;
      const before = this.#cached.get(name);
      this.#cachedBytes += bytesOfGroup(key, group) - (before === undefined ? 0 : bytesOfGroup(key, before));
      this.#cached.set(name, group);
    }
  }

  /** Forgets the facts of the older entry: those of the page that is asked for have been taken over, and nobody may ask for the others. */
  dropOlder(): void {
    this.#older = new Map();
  }
}

/** The memory of a group with its key. Keys and values may be long texts. */
export function bytesOfGroup(key: readonly string[], { facts, times }: CachedGroup): number {
  const values = facts.values();
  const characters = [...key, ...values].reduce((sum, { length }) => sum + length, 0);
  return BYTES_OF_A_GROUP + 2 * characters + values.length * BYTES_OF_A_VALUE + (times?.offsets.length ?? 0) * BYTES_OF_A_TIME;
}

export interface FilledGroups {
  /** The number of groups, or `maxGroups + 1` where there are more than `maxGroups`. */
  readonly groups: number;
  /** The estimated size of the table. */
  readonly bytes: number;
}

/**
 * Counts the groups of what is covered, all of which lies in the window, into a new table. The segments of the entry `older`, a part of it,
 * are not read again.
 */
export async function fillGroupByCache(
  scope: SearchScope,
  output: GroupsOutput,
  table: string,
  coverage: Coverage,
  older: GroupByCacheEntry | undefined,
  maxGroups: number,
): Promise<FilledGroups> {
  const covered = scope.asking({ window: { ...scope.plan.window, fromMs: coverage.fromMs } });
  const events = covered.flushedEvents(coverage.segments.filter(({ id }) => older?.segments.has(id) !== true));
  await scope.runner.run(fillGroupByCacheStatement(covered.plan, output, table, { table: older?.table, events }, maxGroups));
  const [[groups, textBytes] = []] = await scope.runner.run(groupByCacheSizeStatement(output, table));
  return { groups: Number(groups), bytes: Number(groups) * (BYTES_OF_A_ROW + output.by.length * BYTES_OF_A_KEY) + Number(textBytes) };
}

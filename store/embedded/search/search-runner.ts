import type { ExplorePlan } from '../../../query/plan/explore-plan.ts';
import type { SearchPlan, TimeWindow, ZoneSelection } from '../../../query/plan/search-plan.ts';
import type { ExploreResult, SearchResult } from '../../../query/plan/search-result.ts';
import { type ActiveZone, StoreError } from '../../event-store.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import { isOutOfMemory } from '../duckdb/memory-ladder.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { ThreadPolicy } from '../duckdb/thread-policy.ts';
import type { CheckSegments, SegmentChecks } from '../integrity/segment-checks.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import { findActiveZones } from './active-zones.ts';
import { explore } from './exploration.ts';
import type { ExplorationCache } from './exploration-cache.ts';
import { type GroupCache, MAX_KEPT, type MaxKept, searchGroups } from './group-search.ts';
import type { PageCache } from './page-cache.ts';
import { searchRows } from './row-search.ts';
import { SearchScope } from './search-scope.ts';
import type { SegmentCounts } from './segment-counts.ts';
import { VALUE_COUNT_LIMITS, type ValueCountLimits } from './value-counts.ts';

export interface SearchRunnerOptions {
  readonly versions: VersionSet;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly connections: ConnectionPool;
  readonly threads: ThreadPolicy;
  /** Undefined: every search counts the segments anew. */
  readonly counts: SegmentCounts | undefined;
  /** Undefined: every search groups anew. */
  readonly groups: GroupCache | undefined;
  /** Undefined: every question of the explorer counts anew. */
  readonly explorations: ExplorationCache | undefined;
  /** Of questions of the explorer. Undefined: every one reads its page anew. */
  readonly pages: PageCache | undefined;
  /** Default: {@link VALUE_COUNT_LIMITS}. */
  readonly valueCountLimits?: ValueCountLimits | undefined;
  /** Default: {@link MAX_KEPT}. */
  readonly maxKept?: MaxKept | undefined;
}

const OUT_OF_MEMORY = 'there is not enough memory for this search; try again later, or ask for a shorter window';

/** Keeps no events in memory while they are grouped. */
const KEPT_WITH_LESS: MaxKept = { filtered: 0, otherwise: 0 };

/** The most events that the search can find. */
function mostEventsOf(scope: SearchScope, page: SearchResult): number {
  return page.kind === 'rows' ? page.total : scope.mostEvents;
}

const NO_PAGE = { page: { index: 0, size: 0 }, output: { kind: 'rows' } } as const;

interface OpenScope extends Disposable {
  readonly scope: SearchScope;
}

/**
 * Runs searches: each waits for a connection, and the parts that it reads stay readable until it ends. A search that runs out of memory is
 * made once more with less, after the memory of the caches was freed; one that comes upon damage is made again without it.
 */
export class SearchRunner {
  readonly #options: SearchRunnerOptions;
  readonly #evictCaches: () => Promise<void>;

  constructor(options: SearchRunnerOptions) {
    this.#options = options;
    this.#evictCaches = async () => await options.groups?.evictAll();
  }

  /** Rejects with the signal's reason, or with `StoreError` (`overloaded`) where too many searches wait or memory is short. */
  async search(plan: SearchPlan, signal: AbortSignal): Promise<SearchResult> {
    return await this.#answer(plan, signal, (scope, isRetry) => this.#findPage(scope, isRetry));
  }

  /** Answers all of the plan from one snapshot. Rejects as {@link search}. */
  async explore(plan: ExplorePlan, signal: AbortSignal): Promise<ExploreResult> {
    const { connections, pages, explorations: cache, valueCountLimits: limits = VALUE_COUNT_LIMITS } = this.#options;
    return await this.#answer(plan.search, signal, async (scope, isRetry) => {
      // A statement about few events keeps all cores busy for half of its time only, so the page is read beside it.
      using other = scope.mostEvents <= limits.together ? connections.acquireIdle(signal) : undefined;
      const beside = isRetry || other === undefined ? undefined : scope.on(other.runner);
      const cached = pages?.of(scope);
      const finding = Promise.resolve(cached ?? this.#findPage(beside ?? scope, isRetry));
      const events = beside === undefined ? mostEventsOf(scope, await finding) : scope.mostEvents;
      const exploring = explore(scope, plan, events, { cache, limits, isRetry });
      // Both end before the parts that they read are given back.
      await Promise.allSettled([finding, exploring]);
      const page = await finding;
      if (cached === undefined) {
        pages?.keep(scope, page);
      }
      return { page, ...(await exploring) };
    });
  }

  /** The zones that have events in the window, by number of events descending, then by zone. Rejects as {@link search}. */
  async activeZones(window: TimeWindow, zones: ZoneSelection, signal: AbortSignal): Promise<readonly ActiveZone[]> {
    return await this.#answer({ zones, window, where: { kind: 'everything' }, ...NO_PAGE }, signal, (scope) => findActiveZones(scope));
  }

  /** Answers from one snapshot. */
  async #answer<T>(plan: SearchPlan, signal: AbortSignal, find: (scope: SearchScope, isRetry: boolean) => Promise<T>): Promise<T> {
    for (let isRetry = false; ; ) {
      const attempt = this.#options.checks.attempt(signal);
      try {
        using open = await this.#open(plan, attempt.check, signal);
        return await find(open.scope, isRetry);
      } catch (error) {
        if (isOutOfMemory(error)) {
          if (isRetry) {
            throw new StoreError('overloaded', OUT_OF_MEMORY, { cause: error });
          }
          isRetry = true;
          await this.#evictCaches();
        } else if (!(await attempt.foundDamage(error))) {
          throw error;
        }
      }
    }
  }

  /** The events of a plan in one snapshot, and a connection to read them on, until it is disposed. */
  async #open(plan: SearchPlan, check: CheckSegments, signal: AbortSignal): Promise<OpenScope> {
    const { versions, aliases, connections, threads } = this.#options;
    using parts = new DisposableStack();
    parts.defer(threads.beginSearch());
    const { runner } = parts.use(await connections.acquire(signal));
    const scope = await SearchScope.open(plan, { snapshot: parts.use(versions.snapshot()), aliases, check, runner, signal });
    const kept = parts.move();
    return { scope, [Symbol.dispose]: () => kept.dispose() };
  }

  #findPage(scope: SearchScope, isRetry: boolean): Promise<SearchResult> {
    const { counts, groups, maxKept = MAX_KEPT } = this.#options;
    const { output } = scope.plan;
    if (output.kind === 'rows') {
      return searchRows(scope, counts);
    }
    return isRetry ? searchGroups(scope, output, KEPT_WITH_LESS) : searchGroups(scope, output, maxKept, groups);
  }
}

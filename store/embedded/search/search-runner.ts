import type { ExplorePlan } from '../../../query/plan/explore-plan.ts';
import { everythingIn, type SearchPlan, type TimeWindow, type ZoneSelection } from '../../../query/plan/search-plan.ts';
import type { ExploreResult, RowPiece, SearchResult } from '../../../query/plan/search-result.ts';
import { MAX_ACTIVE_RULES } from '../../../query/search-limits.ts';
import { duckdbDialect } from '../../../sql/dialect.ts';
import { activeRule, activeRulesStatement, activeZone, activeZonesStatement } from '../../../sql/explore-statements.ts';
import type { ActiveRule, ActiveZone } from '../../event-store.ts';
import type { Reading } from '../../readings.ts';
import { StoreError } from '../../store-error.ts';
import type { ConnectionPool } from '../duckdb/connection-pool.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import { isOutOfMemory } from '../duckdb/statement-runner.ts';
import type { ThreadPolicy } from '../duckdb/thread-policy.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { Snapshot, VersionSet } from '../snapshot/version-set.ts';
import { explore } from './exploration.ts';
import type { ExplorationCache } from './exploration-cache.ts';
import { type GroupCache, MAX_KEPT, type MaxKept, searchGroups } from './group-search.ts';
import { type RowCursor, RowPieces } from './row-pieces.ts';
import { type FoundPage, searchRows } from './row-search.ts';
import { SearchScope } from './search-scope.ts';
import type { SegmentCounts } from './segment-counts.ts';
import { VALUE_COUNT_LIMITS, type ValueCountLimits } from './value-counts.ts';

export interface SearchRunnerOptions {
  readonly versions: VersionSet;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
  readonly connections: ConnectionPool;
  readonly threads: ThreadPolicy;
  /** The counts of segments; undefined where every search counts them anew. */
  readonly counts: SegmentCounts | undefined;
  /** The cached groups; undefined where every search groups anew. */
  readonly groups: GroupCache | undefined;
  /** What questions of the explorer have found; undefined where every one is answered anew. */
  readonly explorations: ExplorationCache | undefined;
  /** Default: {@link VALUE_COUNT_LIMITS}. */
  readonly valueCountLimits?: ValueCountLimits | undefined;
  /** Default: {@link MAX_KEPT}. */
  readonly maxKept?: MaxKept | undefined;
}

const OUT_OF_MEMORY = 'there is not enough memory for this search; try again later, or ask for a shorter window';

/** Keeps no events in memory while they are grouped. */
const KEPT_WITH_LESS: MaxKept = { filtered: 0, otherwise: 0 };

/** The most events that the search can find. */
function mostEventsOf(scope: SearchScope, page: FoundPage): number {
  return page.kind === 'rows' ? page.total : scope.mostEvents;
}

/**
 * Runs searches: each waits for a connection, and the parts that it reads stay readable until it ends. A search that runs out of memory is
 * made once more with less, after the group-by cache was emptied. One that comes upon a damaged file is made again without that file.
 */
export class SearchRunner {
  readonly #options: SearchRunnerOptions;

  constructor(options: SearchRunnerOptions) {
    this.#options = options;
  }

  /**
   * Finds a page, and reads the first piece of its rows. Rejects with the reason of the signal, or with `StoreError` (`overloaded`)
   * where too many searches wait or memory is short. The reading ends with the last piece.
   */
  async search(plan: SearchPlan, reading: Reading): Promise<SearchResult> {
    using parts = new DisposableStack();
    const { signal } = parts.use(reading);
    return await this.#answer(plan, signal, async (scope, isRetry) =>
      this.#resultOf(await this.#findPage(scope, isRetry), scope, signal, parts),
    );
  }

  /** Answers all of the plan from one snapshot. Rejects and ends as {@link search}. */
  async explore(plan: ExplorePlan, reading: Reading): Promise<ExploreResult> {
    const { connections, explorations: cache, valueCountLimits: limits = VALUE_COUNT_LIMITS } = this.#options;
    using parts = new DisposableStack();
    const { signal } = parts.use(reading);
    return await this.#answer(plan.search, signal, async (scope, isRetry) => {
      // A statement about few events keeps all cores busy for half of its time only, so the page is read beside it.
      using other = scope.mostEvents <= limits.together ? connections.acquireIdle(signal) : undefined;
      const beside = isRetry || other === undefined ? undefined : scope.on(other.runner);
      const cached = cache?.pageOf(scope);
      const finding = Promise.resolve(cached ?? this.#findPage(beside ?? scope, isRetry));
      const events = beside === undefined ? mostEventsOf(scope, await finding) : scope.mostEvents;
      const exploring = explore(scope, plan, events, { cache, limits, isRetry });
      // Both end before the parts that they read are given back.
      await Promise.allSettled([finding, exploring]);
      const page = await finding;
      if (cached === undefined) {
        cache?.keepPage(scope, page);
      }
      const explored = await exploring;
      return { page: this.#resultOf(page, scope, signal, parts), ...explored };
    });
  }

  /** The zones that have events in the window, by number of events descending, then by zone. Rejects as {@link search}. */
  async activeZones(window: TimeWindow, zones: ZoneSelection, signal: AbortSignal): Promise<readonly ActiveZone[]> {
    const rows = await this.#answer(everythingIn(window, zones), signal, (scope) =>
      scope.runner.run(activeZonesStatement(scope.plan, scope.events(), duckdbDialect)),
    );
    return rows.map(activeZone);
  }

  /** The rules that have events in the window, by number of events descending, then by id. Rejects as {@link search}. */
  async activeRules(window: TimeWindow, zones: ZoneSelection, signal: AbortSignal): Promise<readonly ActiveRule[]> {
    const rows = await this.#answer(everythingIn(window, zones), signal, (scope) =>
      scope.runner.run(activeRulesStatement(scope.plan, MAX_ACTIVE_RULES, scope.events(), duckdbDialect)),
    );
    return rows.map(activeRule);
  }

  /** Answers from one snapshot, on a connection that is held for it. */
  async #answer<T>(plan: SearchPlan, signal: AbortSignal, find: (scope: SearchScope, isRetry: boolean) => Promise<T>): Promise<T> {
    const { versions, aliases, connections, threads, checks, groups } = this.#options;
    for (let isRetry = false; ; ) {
      const { check, foundDamage } = checks.attempt(signal);
      try {
        using _search = threads.beginSearch();
        using connection = await connections.acquire(signal);
        using snapshot = versions.snapshot();
        const { runner } = connection;
        return await find(await SearchScope.open(plan, { snapshot, aliases, check, runner, signal }), isRetry);
      } catch (error) {
        if (isOutOfMemory(error)) {
          if (isRetry) {
            throw new StoreError('overloaded', OUT_OF_MEMORY, { cause: error });
          }
          isRetry = true;
          await groups?.evictAll();
        } else if (!(await foundDamage(error))) {
          throw error;
        }
      }
    }
  }

  /** A page as it is answered. Rows behind its first piece are read when they are asked for, and hold the parts and the snapshot. */
  #resultOf(page: FoundPage, { plan, source }: SearchScope, ended: AbortSignal, parts: DisposableStack): SearchResult {
    if (page.kind === 'groups') {
      return page;
    }
    const { kind, total, first, rest } = page;
    if (rest === undefined) {
      return { kind, total, rows: onlyPiece(first) };
    }
    const snapshot = parts.use(this.#options.versions.again(source.snapshot));
    const read = (signal: AbortSignal) => this.#readOn(plan, rest, snapshot, signal);
    return { kind, total, rows: new RowPieces({ first, ended, held: parts.move(), read }) };
  }

  async #readOn(plan: SearchPlan, rest: RowCursor, snapshot: Snapshot, signal: AbortSignal): Promise<RowPiece | undefined> {
    const { aliases, connections, checks } = this.#options;
    return await checks.reading(signal, async (check) => {
      using connection = await connections.acquire(signal);
      const scope = await SearchScope.open(plan, { snapshot, aliases, check, runner: connection.runner, signal });
      return await rest.next(scope, rest.left, true);
    });
  }

  #findPage(scope: SearchScope, isRetry: boolean): Promise<FoundPage> {
    const { counts, groups, maxKept = MAX_KEPT } = this.#options;
    const { output } = scope.plan;
    if (output.kind === 'rows') {
      return searchRows(scope, counts);
    }
    return isRetry ? searchGroups(scope, output, KEPT_WITH_LESS) : searchGroups(scope, output, maxKept, groups);
  }
}

/** The rows of a page that has no more than its first piece. */
async function* onlyPiece(piece: RowPiece | undefined): AsyncGenerator<RowPiece, void, void> {
  if (piece !== undefined) {
    yield piece;
  }
}

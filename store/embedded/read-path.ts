import { MEBIBYTE, memoryShares } from '../memory-shares.ts';
import { Readings } from '../readings.ts';
import { storeClosed } from '../store-error.ts';
import { GroupByCache, groupByCacheLimitsOf } from './cache/group-by-cache.ts';
import type { ConnectionPool } from './duckdb/connection-pool.ts';
import type { OpenEngine } from './duckdb/duckdb-engine.ts';
import { EXCERPT_EVENTS, FeedPages } from './feed/feed-pages.ts';
import type { SegmentChecks } from './integrity/segment-checks.ts';
import type { Closing } from './runtime/closing.ts';
import { ExplorationCache } from './search/exploration-cache.ts';
import { SearchRunner } from './search/search-runner.ts';
import { SegmentCounts } from './search/segment-counts.ts';
import type { PartRemover } from './snapshot/part-remover.ts';
import type { VersionSet } from './snapshot/version-set.ts';
import type { StoreOptions, StoreTuning } from './store-options.ts';

/** Connections that are kept for searches and exports, and for the feed. Callers who read more at a time have others opened. */
const SEARCH_CONNECTIONS = 6;
const FEED_CONNECTIONS = 3;

/** The parts of a store that answer searches and read the feed. */
export interface ReadPath {
  readonly readings: Readings;
  readonly searchers: ConnectionPool;
  readonly search: SearchRunner;
  readonly feed: FeedPages;
}

interface ReadPathParts {
  readonly engine: OpenEngine;
  readonly versions: VersionSet;
  readonly checks: SegmentChecks;
  readonly remover: PartRemover;
}

export async function openReadPath(
  { engine, versions, checks, remover }: ReadPathParts,
  { memoryLimitMb }: StoreOptions,
  { cachesCounts = true, groupByCacheLimits = groupByCacheLimitsOf(memoryLimitMb), maxKept, valueCountLimits }: StoreTuning,
  closing: Closing,
): Promise<ReadPath> {
  const searchers = await engine.pool(SEARCH_CONNECTIONS, { remembersFooters: true });
  const { aliases, threads } = engine;
  const { feedExcerptShareMb } = memoryShares(memoryLimitMb);
  const dropTable = (name: string) => remover.dropTable(name);
  const groups = new GroupByCache({ ...groupByCacheLimits, versions, dropTable, dropped: () => remover.idle() });
  const search = new SearchRunner({
    versions,
    aliases,
    checks,
    connections: searchers,
    threads,
    counts: cachesCounts ? new SegmentCounts() : undefined,
    groups: cachesCounts ? groups : undefined,
    explorations: cachesCounts ? new ExplorationCache(versions.zoneEnds) : undefined,
    valueCountLimits,
    maxKept,
  });
  const connections = await engine.pool(FEED_CONNECTIONS);
  const feed = new FeedPages({
    versions,
    aliases,
    checks,
    connections,
    excerptBudget: { events: EXCERPT_EVENTS, bytes: feedExcerptShareMb * MEBIBYTE },
    evictCaches: () => groups.evictAll(),
  });
  const readings = new Readings();
  closing.add('the searches under way', () => readings.settled());
  closing.add('the feed', () => feed.close(storeClosed()));
  return { readings, searchers, search, feed };
}
